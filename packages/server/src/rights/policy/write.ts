import {
  type DocumentKind,
  type PolicyDocument,
  documentKinds,
  rowsIn,
} from '@doorward/decision/document/document';
import { getTableColumns, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { BuiltIns } from '../../access/built-in.ts';
import { insertion, recordset } from '../../db/statements/recordset.ts';
import { anyOf } from '../../db/statements/rows.ts';
import { conflict } from '../../db/query/scoped-crud.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import type { Ids } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { groups } from '../../schema/rights/group.ts';
import { permissions } from '../../schema/rights/permission.ts';
import { projectApps } from '../../schema/apps/project-app.ts';
import { resources } from '../../schema/rights/resource.ts';
import { roles } from '../../schema/rights/role.ts';
import { tags } from '../../schema/rights/tag.ts';
import { webhookSubscriptions } from '../../schema/webhooks/webhook-subscription.ts';
import { entityOf } from './document/kinds.ts';
import type { Change, Comparison } from './document/match.ts';

/**
 * Makes the changes of a comparison, with a few statements for each kind of rows, however many rows there are. The
 * caller holds the lock of the node and has checked the changes.
 */
export async function write(
  tx: Executor,
  projectId: string,
  comparison: Comparison,
  { builtIns, ids, userId }: Writer,
): Promise<WrittenChange[]> {
  const { after, changes } = comparison;
  const idOf = idsOfRows(comparison, builtIns, ids);
  const written = changes.map((change) => ({
    ...change,
    id: change.action === 'delete' ? (change.id as string) : idOf(change.kind, change.key),
  }));
  const changed = written.filter(({ action }) => action !== 'delete');
  await freeNames(tx, projectId, comparison, written);
  for (const kind of documentKinds) {
    const ofKind = changed.filter((change) => change.kind === kind);
    await upsert[kind](
      tx,
      ofKind.map(({ id, key }) => ({
        ...rowOf(projectId, after, kind, key, id, idOf),
        createdBy: userId,
        clientId: ids.random(),
      })),
    );
    for (const link of links[kind] ?? []) await relink(tx, projectId, after, link, ofKind, idOf);
  }
  await holdUnchanged(tx, comparison);
  for (const kind of [...documentKinds].reverse()) {
    const gone = written.flatMap((change) =>
      change.kind === kind && change.action === 'delete' ? [change.id] : [],
    );
    if (gone.length > 0)
      await tx.execute(sql`update ${entityOf[kind].table}
        set deleted_at = now(), updated_at = now(), policy_key = null, policy_hold = null
        where tenant_id = ${projectId}::uuid and id = ${anyOf(gone)}`);
  }
  return written;
}

interface Writer {
  readonly builtIns: BuiltIns;
  readonly ids: Ids;
  /** The creator of new rows, for kinds that store one. */
  readonly userId: string;
}

export type WrittenChange = Change & { readonly id: string };

type IdOf = (kind: DocumentKind, key: string) => string;

/** Returns the ids of rows that a document names, whether they exist, are built-in or will be created. */
function idsOfRows({ after, rowOf: existing }: Comparison, builtIns: BuiltIns, ids: Ids): IdOf {
  const idByName = new Map<string, string>();
  for (const { id, slug } of builtIns.resources) idByName.set(`resources ${slug}`, id);
  for (const { id, name } of builtIns.permissions) idByName.set(`permissions ${name}`, id);
  for (const { id, name } of builtIns.groups) idByName.set(`groups ${name}`, id);
  for (const { id, name } of builtIns.roles) idByName.set(`roles ${name}`, id);
  for (const kind of documentKinds)
    for (const key of Object.keys(after[kind]))
      idByName.set(`${kind} ${key}`, existing(kind, key)?.id ?? ids.next());
  return (kind, key) => {
    const id = idByName.get(`${kind} ${key}`);
    if (id === undefined) throw new Error(`nothing is called ${key} among ${kind}`);
    return id;
  };
}

type Row = Readonly<Record<string, unknown>>;

/** The columns of a row. */
function rowOf(
  projectId: string,
  after: PolicyDocument,
  kind: DocumentKind,
  key: string,
  id: string,
  idOf: IdOf,
): Row {
  const fields = rowsIn(after, kind)[key] ?? {};
  const row = {
    ...fields,
    id,
    tenantId: projectId,
    isSystem: false,
    level: 'project',
    policyKey: key,
    policyHold: holdOf(after, fields),
  };
  if (kind === 'resources') return { ...row, slug: key };
  if (kind === 'apps') return { ...row, name: key, ...signUpColumns(projectId, after, fields, idOf) };
  if (kind !== 'permissions') return { ...row, name: key };
  const resource = String(fields['resource']);
  const resourceTenantId = resource in after.resources ? projectId : SYSTEM_NODE;
  return { ...row, name: key, resourceId: idOf('resources', resource), resourceTenantId };
}

function signUpColumns(projectId: string, after: PolicyDocument, { signUpRole: role }: Row, idOf: IdOf): Row {
  if (typeof role !== 'string') return { signUpRoleId: null, signUpRoleTenantId: null };
  return {
    signUpRoleId: idOf('roles', role),
    signUpRoleTenantId: role in after.roles ? projectId : SYSTEM_NODE,
  };
}

const holdOf = ({ mode }: PolicyDocument, { protect }: Row): string =>
  protect === true ? 'protected' : mode === 'lock' ? 'locked' : 'none';

/**
 * Removes the names of webhooks that get another name or are deleted, if other webhooks of the document get these
 * names: names are unique, and rows are written one after the other.
 */
async function freeNames(
  tx: Executor,
  projectId: string,
  { after, rowOf: existing }: Comparison,
  written: readonly WrittenChange[],
): Promise<void> {
  const freed = written.flatMap(({ kind, label, key, action, id }): string[] => {
    const name = kind === 'webhooks' && action !== 'create' ? existing(kind, label)?.name : undefined;
    const isGivenUp = name !== undefined && (action === 'delete' || name !== key);
    return isGivenUp && name in after.webhooks ? [id] : [];
  });
  if (freed.length === 0) return;
  await tx.execute(sql`update webhook_subscriptions set name = null
    where tenant_id = ${projectId}::uuid and id = ${anyOf(freed)}`);
}

type Upsert = (tx: Executor, rows: readonly Row[]) => Promise<void>;

/**
 * Creates the function that writes rows. It sets the columns that the rows have and leaves all other columns as they
 * are, because only the service sets those. `fixed`: columns that only new rows get.
 */
function upsertInto<T extends PgTable>(
  table: T,
  fixed: readonly (keyof T['_']['columns'] & string)[] = [],
): Upsert {
  const columns = Object.keys(getTableColumns(table));
  return async (tx, rows) => {
    const [first] = rows;
    if (!first) return;
    const without = columns.filter((name) => !Object.hasOwn(first, name));
    const { names, updates, from } = insertion<PgTable>(table, without, fixed);
    for (const some of slicesOf(rows))
      // A plan holds no lock, so another caller may have taken a slug or a name since it read the rows.
      await tx
        .execute(
          sql`insert into ${table} (${names}) select ${names} from ${from(some)}
      on conflict (id) do update set ${updates}, updated_at = now()`,
        )
        .catch(conflict);
  };
}

const upsert: Readonly<Record<DocumentKind, Upsert>> = {
  tags: upsertInto(tags),
  resources: upsertInto(resources),
  permissions: upsertInto(permissions),
  groups: upsertInto(groups),
  roles: upsertInto(roles),
  apps: upsertInto(projectApps, ['clientId', 'confidential']),
  webhooks: upsertInto(webhookSubscriptions, ['createdBy']),
};

/** A list of keys in a row, and the table that stores it. */
interface Link {
  readonly member: 'tags' | 'permissions' | 'groups';
  readonly table: string;
  readonly from: string;
  readonly to: string;
}

const taggedIn = (table: string, from: string): Link => ({ member: 'tags', table, from, to: 'tag_id' });

const links: Partial<Record<DocumentKind, readonly Link[]>> = {
  resources: [taggedIn('resource_tags', 'resource_id')],
  permissions: [taggedIn('permission_tags', 'permission_id')],
  groups: [
    { member: 'permissions', table: 'group_permissions', from: 'group_id', to: 'permission_id' },
    taggedIn('group_tags', 'group_id'),
  ],
  roles: [
    { member: 'groups', table: 'role_groups', from: 'role_id', to: 'group_id' },
    taggedIn('role_tags', 'role_id'),
  ],
  apps: [taggedIn('project_app_tags', 'project_app_id')],
};

/** Replaces the links of rows whose list differs. */
async function relink(
  tx: Executor,
  projectId: string,
  after: PolicyDocument,
  { member, table, from, to }: Link,
  changed: readonly WrittenChange[],
  idOf: IdOf,
): Promise<void> {
  const relinked = changed.filter(({ fields }) => member in fields);
  if (relinked.length === 0) return;
  const [links, source, target] = [sql.raw(table), sql.raw(from), sql.raw(to)];
  await tx.execute(sql`delete from ${links} where tenant_id = ${projectId}::uuid
    and ${source} = ${anyOf(relinked.map(({ id }) => id))}`);
  const rows = relinked.flatMap(({ kind, key, id }) => {
    const named = rowsIn(after, kind)[key]?.[member] as readonly string[];
    return named.map((name) => ({
      from: id,
      to: idOf(member, name),
      tenant: name in after[member] ? projectId : SYSTEM_NODE,
    }));
  });
  for (const some of slicesOf(rows))
    await tx.execute(sql`insert into ${links} (tenant_id, ${source}, ${target}, to_tenant_id)
      select ${projectId}::uuid, "from", "to", tenant from ${recordset(some, 'link("from" uuid, "to" uuid, tenant uuid)')}`);
}

/** A limit, because a statement on the embedded database blocks the whole process. */
const ROWS_PER_STATEMENT = 2000;

function* slicesOf<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT)
    yield rows.slice(start, start + ROWS_PER_STATEMENT);
}

/** Updates `policy_hold` of rows without other changes, because the mode of the document may have changed. */
async function holdUnchanged(tx: Executor, { after, rowOf: existing, changes }: Comparison): Promise<void> {
  const changed = new Set(changes.map(({ kind, label }) => `${kind} ${label}`));
  for (const kind of documentKinds) {
    const rows = Object.entries(rowsIn(after, kind)).flatMap(([key, fields]) => {
      const row = existing(kind, key);
      const hold = holdOf(after, fields);
      return row && !changed.has(`${kind} ${key}`) && row.policyHold !== hold ? [{ id: row.id, hold }] : [];
    });
    if (rows.length === 0) continue;
    await tx.execute(sql`update ${entityOf[kind].table} x set policy_hold = held.hold
      from ${recordset(rows, 'held(id uuid, hold text)')} where x.id = held.id`);
  }
}
