import {
  documentKinds,
  type DocumentKind,
  type Keyed,
  type PolicyDocument,
} from '@doorward/decision/document/document';
import { sql, type SQL } from 'drizzle-orm';
import { createHash } from 'node:crypto';
import type { BuiltIns } from '../../../access/built-in.ts';
import type { PolicyHold } from '../../../schema/managed.ts';
import { rowsOf } from '../../../db/statements/rows.ts';
import { canonicalJson } from '../../../kernel/output/canonical-json.ts';
import type { Executor } from '../../../kernel/scoped-db.ts';
import { entityOf } from './kinds.ts';

/** The current rows of a project that a policy document can name. */
export interface State {
  readonly rows: Readonly<Record<DocumentKind, readonly StoredRow[]>>;
  /** Differs after every change to a row, by a document or by hand. */
  readonly version: string;
}

export interface StoredRow {
  readonly kind: DocumentKind;
  readonly id: string;
  /** The slug of a resource; the name of any other row. */
  readonly name: string;
  /** The key in the document that manages the row; null if no document does. */
  readonly policyKey: string | null;
  readonly policyHold: PolicyHold;
  readonly changedAt: string;
  /** The fields as in a document, but with ids instead of keys. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const managed = sql`policy_key as "policyKey", coalesce(policy_hold, 'none') as "policyHold", updated_at::text as "changedAt"`;

const fieldsOf: Readonly<Record<DocumentKind, SQL>> = {
  tags: sql`name, json_build_object('color', color, 'metadata', metadata)`,
  resources: sql`slug as name, json_build_object('name', name, 'description', description,
    'actions', to_json(actions), 'isActive', is_active, 'metadata', metadata)`,
  permissions: sql`name, json_build_object('resource', resource_id, 'action', action, 'description', description,
    'condition', condition, 'metadata', metadata)`,
  groups: sql`name, json_build_object('description', description, 'metadata', metadata)`,
  roles: sql`name, json_build_object('description', description, 'metadata', metadata)`,
  apps: sql`name, json_build_object('logoUrl', logo_url, 'homepageUrl', homepage_url, 'primaryColor', primary_color,
    'redirectUris', to_json(redirect_uris), 'postLogoutRedirectUris', to_json(post_logout_redirect_uris),
    'backchannelLogoutUri', backchannel_logout_uri, 'scopes', to_json(scopes),
    'enabledProviders', to_json(enabled_providers), 'identityProviders', to_json(identity_providers),
    'allowSignUp', allow_sign_up, 'signUpRole', sign_up_role_id, 'confidential', confidential,
    'firstParty', first_party, 'allowedOrigins', to_json(allowed_origins),
    'accessTokenProfile', access_token_profile, 'idTokenClaims', id_token_claims, 'resources', to_json(resources))`,
  webhooks: sql`name, json_build_object('url', url, 'eventTypes', to_json(event_types), 'description', description,
    'active', active)`,
};

/**
 * Conditions for the rows that a document can name; others are not part of the state. A stranger chose the name of an
 * app that registered itself, so no document adopts it.
 */
const nameableOf: Readonly<Partial<Record<DocumentKind, SQL>>> = {
  apps: sql`registration_hash is null`,
  webhooks: sql`name is not null`,
};

/** Lists of keys in a document, with the tables and columns that store them. */
const linksOf = {
  resources: { tags: ['resource_tags', 'resource_id', 'tag_id'] },
  permissions: { tags: ['permission_tags', 'permission_id', 'tag_id'] },
  groups: {
    permissions: ['group_permissions', 'group_id', 'permission_id'],
    tags: ['group_tags', 'group_id', 'tag_id'],
  },
  roles: { groups: ['role_groups', 'role_id', 'group_id'], tags: ['role_tags', 'role_id', 'tag_id'] },
  apps: { tags: ['project_app_tags', 'project_app_id', 'tag_id'] },
} as const;

/**
 * Reads all rows of a project: one statement for each kind, and one for each table of links. The statements have no
 * joins, because the database has no statistics right after thousands of rows were written.
 */
export async function loadState(tx: Executor, projectId: string, builtIns: BuiltIns): Promise<State> {
  const ofProject = sql`tenant_id = ${projectId}::uuid`;
  const rows = {} as Record<DocumentKind, StoredRow[]>;
  for (const kind of documentKinds) {
    const stored = await rowsOf<Omit<StoredRow, 'kind'>>(
      tx,
      sql`select id, ${fieldsOf[kind]} as fields, ${managed} from ${entityOf[kind].table}
        where ${ofProject} and deleted_at is null and ${nameableOf[kind] ?? sql`true`} order by id`,
    );
    rows[kind] = stored.map((row) => ({ ...row, kind }));
  }
  // Links to deleted rows are still stored, but have no effect.
  const live = new Set([
    ...documentKinds.flatMap((kind) => rows[kind].map(({ id }) => id)),
    ...[...builtIns.permissions, ...builtIns.groups].map(({ id }) => id),
  ]);
  for (const [kind, lists] of Object.entries(linksOf) as [DocumentKind, Record<string, readonly string[]>][])
    for (const [member, [table = '', from = '', to = '']] of Object.entries(lists)) {
      const links = await rowsOf<{ from: string; to: string }>(
        tx,
        sql`select ${sql.raw(from)} as "from", ${sql.raw(to)} as "to" from ${sql.raw(table)} where ${ofProject}`,
      );
      const targets = new Map<string, string[]>();
      for (const link of links) {
        if (!live.has(link.to)) continue;
        const existing = targets.get(link.from);
        if (existing) existing.push(link.to);
        else targets.set(link.from, [link.to]);
      }
      rows[kind] = rows[kind].map((row) => ({
        ...row,
        fields: { ...row.fields, [member]: (targets.get(row.id) ?? []).sort() },
      }));
    }
  return { rows, version: createHash('sha256').update(canonicalJson(rows)).digest('base64url') };
}

/** Returns the name that a document uses for a row: its key, or the name of a built-in or unmanaged row. */
type Labels = (id: string) => string;

/**
 * Computes the names. `keys`: the keys that rows will have, by id, where they differ from the present keys.
 * `document`: the names of unmanaged rows must differ from its keys.
 */
export function labelsOf(
  { rows }: State,
  builtIns: BuiltIns,
  keys: ReadonlyMap<string, string> = new Map(),
  document?: PolicyDocument,
): Labels {
  const labels = new Map<string, string>();
  for (const { id, slug } of builtIns.resources) labels.set(id, slug);
  const builtIn: Partial<Record<DocumentKind, readonly { readonly id: string; readonly name: string }[]>> = {
    permissions: builtIns.permissions,
    groups: builtIns.groups,
    roles: builtIns.roles,
  };
  for (const { id, name } of Object.values(builtIn).flat()) labels.set(id, name);
  for (const kind of documentKinds) {
    const used = new Set([
      ...(builtIn[kind] ?? []).map(({ name }) => name),
      ...Object.keys(document?.[kind] ?? {}),
    ]);
    const named = rows[kind].map((row) => ({ row, key: keys.get(row.id) ?? row.policyKey }));
    for (const { row, key } of named) {
      if (key === null) continue;
      labels.set(row.id, key);
      used.add(key);
    }
    for (const { row, key } of named) {
      if (key !== null) continue;
      // Names need not be unique, so the name of an unmanaged row may be the key of another row.
      const label = used.has(row.name) ? `${row.name} (${row.id})` : row.name;
      labels.set(row.id, label);
      used.add(label);
    }
  }
  return (id) => labels.get(id) ?? id;
}

/** The rows as a document, each under its label. */
export function documentOf(
  rows: readonly StoredRow[],
  labels: Labels,
  of: Partial<PolicyDocument>,
): PolicyDocument {
  const byKind = (kind: DocumentKind): Keyed<never> =>
    Object.fromEntries(
      rows.filter((row) => row.kind === kind).map((row) => [labels(row.id), fieldsInDocument(row, labels)]),
    ) as Keyed<never>;
  return {
    version: 1,
    mode: 'warn',
    resources: byKind('resources'),
    permissions: byKind('permissions'),
    groups: byKind('groups'),
    roles: byKind('roles'),
    tags: byKind('tags'),
    apps: byKind('apps'),
    webhooks: byKind('webhooks'),
    tests: [],
    ...of,
  };
}

function fieldsInDocument({ fields, policyHold }: StoredRow, labels: Labels): Record<string, unknown> {
  const inDocument: Record<string, unknown> = { ...fields, protect: policyHold === 'protected' };
  for (const links of ['tags', 'permissions', 'groups'])
    if (Array.isArray(fields[links])) inDocument[links] = (fields[links] as string[]).map(labels).sort();
  for (const link of ['resource', 'signUpRole'])
    if (typeof fields[link] === 'string') inDocument[link] = labels(fields[link]);
  return inDocument;
}
