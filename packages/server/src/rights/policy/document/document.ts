import { targetOf, type PolicyDocument, type PolicyTest } from '@doorward/decision/document/document';
import { unescaped } from '@doorward/decision/document/escape';
import { z } from 'zod';
import { EventTypes } from '../../../webhooks/subscriptions/event-filter.ts';
import type { Entity, Fields } from '../../../kernel/entity.ts';
import { parseInput } from '../../../kernel/input/validate.ts';
import { metadata, refusal, text } from '../../../kernel/input/values.ts';
import { Group } from '../../../schema/rights/group.ts';
import { Permission } from '../../../schema/rights/permission.ts';
import { ProjectApp } from '../../../schema/apps/project-app.ts';
import { Resource } from '../../../schema/rights/resource.ts';
import { Role } from '../../../schema/rights/role.ts';
import { Tag } from '../../../schema/rights/tag.ts';
import { WebhookSubscription } from '../../../schema/webhooks/webhook-subscription.ts';
import { assertTexts } from './texts.ts';

const key = text(1, 255);
const names = (max: number) =>
  z
    .array(key)
    .max(max)
    .default([])
    .transform((given) => [...new Set(given)].sort());

/** The schema of a noun's field at create. */
const fieldOf = <F extends Fields, N extends keyof Entity<F>['create']>({ create }: Entity<F>, name: N) =>
  create[name];

const protect = z
  .boolean()
  .default(false)
  .describe('true: it cannot be deleted, nor changed by hand, until a document without it was applied.');
const renamedFrom = key.optional().describe('Its former key, if its key has changed.');
const tagNames = names(50).describe('Keys of its tags.');

const resources = z.strictObject({
  name: text(1, 255).optional().describe('Name of the resource; its key if left out.'),
  description: fieldOf(Resource, 'description'),
  actions: fieldOf(Resource, 'actions'),
  isActive: fieldOf(Resource, 'isActive'),
  metadata: metadata.default({}),
  tags: tagNames,
  protect,
});

const permissions = z.strictObject({
  resource: z.string().max(63).optional().describe('Its resource; the first part of the key if left out.'),
  action: z.string().min(1).max(64).optional().describe('Its action; the last part of the key if left out.'),
  description: fieldOf(Permission, 'description'),
  condition: fieldOf(Permission, 'condition'),
  metadata: metadata.default({}),
  tags: tagNames,
  protect,
  renamedFrom,
});

const groups = z.strictObject({
  description: fieldOf(Group, 'description'),
  permissions: names(100).describe('Keys of its permissions, or names of built-in ones.'),
  metadata: metadata.default({}),
  tags: tagNames,
  protect,
  renamedFrom,
});

const roles = z.strictObject({
  description: fieldOf(Role, 'description'),
  groups: names(100).describe('Keys of its groups, or names of built-in ones.'),
  metadata: metadata.default({}),
  tags: tagNames,
  protect,
  renamedFrom,
});

const tags = z.strictObject({
  color: fieldOf(Tag, 'color'),
  metadata: metadata.default({}),
  protect,
  renamedFrom,
});

const apps = z.strictObject({
  logoUrl: fieldOf(ProjectApp, 'logoUrl'),
  homepageUrl: fieldOf(ProjectApp, 'homepageUrl'),
  primaryColor: fieldOf(ProjectApp, 'primaryColor'),
  redirectUris: fieldOf(ProjectApp, 'redirectUris'),
  postLogoutRedirectUris: fieldOf(ProjectApp, 'postLogoutRedirectUris'),
  backchannelLogoutUri: fieldOf(ProjectApp, 'backchannelLogoutUri'),
  scopes: fieldOf(ProjectApp, 'scopes').transform((given) => given && [...new Set(given)]),
  enabledProviders: fieldOf(ProjectApp, 'enabledProviders'),
  identityProviders: fieldOf(ProjectApp, 'identityProviders'),
  allowSignUp: fieldOf(ProjectApp, 'allowSignUp'),
  signUpRole: key
    .nullable()
    .default(null)
    .describe('Key of the role that people join with, or the name of a built-in one of projects.'),
  confidential: fieldOf(ProjectApp, 'confidential'),
  firstParty: fieldOf(ProjectApp, 'firstParty'),
  allowedOrigins: fieldOf(ProjectApp, 'allowedOrigins'),
  accessTokenProfile: fieldOf(ProjectApp, 'accessTokenProfile'),
  idTokenClaims: fieldOf(ProjectApp, 'idTokenClaims'),
  resources: fieldOf(ProjectApp, 'resources'),
  tags: tagNames,
  protect,
  renamedFrom,
});

const webhooks = z.strictObject({
  url: fieldOf(WebhookSubscription, 'url'),
  eventTypes: EventTypes,
  description: fieldOf(WebhookSubscription, 'description'),
  active: fieldOf(WebhookSubscription, 'active'),
  protect,
  renamedFrom,
});

const permissionName = z.union([
  z
    .string()
    .max(128)
    .regex(/^[^:]+:[^:]+$/),
  z.strictObject({ resource: z.string().min(1).max(63), action: z.string().min(1).max(64) }),
]);
const object = z.record(z.string(), z.unknown());

const test = z.strictObject({
  name: text(1, 255),
  permission: permissionName.describe('resource:action, or both as members.'),
  context: z.strictObject({ resource: object.optional() }).optional(),
  subject: z
    .strictObject({
      roles: z
        .array(key)
        .max(100)
        .optional()
        .describe('Decided by the document, for a subject with these roles.'),
      attributes: object.optional().describe('What conditions read under `user`.'),
      userId: z.guid().optional().describe('Asked of a service.'),
    })
    .optional(),
  tokenFrom: z
    .string()
    .max(255)
    .optional()
    .describe('The variable with the token that asks; by the command line.'),
  scope: object.optional().describe('Another scope; by the command line.'),
  expect: z.strictObject({ authorized: z.boolean(), reason: z.string().max(64).optional() }),
});

const MAX = {
  resources: 200,
  permissions: 5000,
  groups: 1000,
  roles: 1000,
  tags: 200,
  apps: 50,
  webhooks: 50,
  tests: 1000,
} as const;

/**
 * The maximum number of links from groups to permissions, and of links from roles to groups. They are limited because a
 * plan writes each link as a row, and rolls it back.
 */
const MAX_LINKS = 20_000;

const linksIn = (
  rows: Readonly<
    Record<string, { readonly permissions?: readonly string[]; readonly groups?: readonly string[] }>
  >,
): number =>
  Object.values(rows).reduce(
    (sum, { permissions: held = [], groups: contained = [] }) => sum + held.length + contained.length,
    0,
  );

const tooMany = (max: number, value: unknown, path: PropertyKey[] = []) => {
  const issue = refusal('too_big', value, path);
  return { ...issue, params: { ...issue.params, max } };
};

/** Rows by key; at most `max` rows. */
const keyed = <S extends z.ZodType>(row: S, max: number, keys: z.ZodType<string, string> = key) =>
  z
    .record(keys, row)
    .default({})
    .check(({ value, issues }) => {
      if (Object.keys(value).length > max) issues.push(tooMany(max, value));
    });

const slugKey = z
  .string()
  .max(63)
  .regex(/^[a-z][a-z0-9-]*$/);

/**
 * The policy document as callers send it. Its fields are those of the nouns, with names of rows instead of ids, so that
 * each limit is declared only once. Parsing fills in the defaults of omitted members.
 */
export const Document = z
  .strictObject({
    $schema: z.string().max(500).optional(),
    version: z.literal(1),
    mode: z
      .enum(['warn', 'lock'])
      .default('warn')
      .describe(
        'Rows of the document that are changed by hand: `warn` shows them as drift, `lock` refuses it.',
      ),
    resources: keyed(resources, MAX.resources, slugKey),
    permissions: keyed(permissions, MAX.permissions),
    groups: keyed(groups, MAX.groups),
    roles: keyed(roles, MAX.roles),
    tags: keyed(tags, MAX.tags),
    apps: keyed(apps, MAX.apps),
    webhooks: keyed(webhooks, MAX.webhooks),
    tests: z
      .array(test)
      .default([])
      .check(({ value, issues }) => {
        if (value.length > MAX.tests) issues.push(tooMany(MAX.tests, value));
      })
      .meta({ maxItems: MAX.tests }),
  })
  .check(({ value, issues }) => {
    for (const kind of ['groups', 'roles'] as const)
      if (linksIn(value[kind]) > MAX_LINKS) issues.push(tooMany(MAX_LINKS, value, [kind]));
  })
  .meta({ description: 'What a project defines, as one document.' });
type Parsed = z.output<typeof Document>;

/** Former keys, by `formerKey`. */
export type FormerKeys = ReadonlyMap<string, string>;
/** The entry in `FormerKeys` for a row of this kind and key. */
export const formerKey = (kind: string, key: string): string => `${kind} ${key}`;

const member = z.strictObject({ policy: Document });

/**
 * Parses a policy document, and extracts the former keys of its rows.
 *
 * @throws VALIDATION_ERROR with paths that begin with `policy`
 */
export function parseDocument(raw: unknown): { document: PolicyDocument; formerKeys: FormerKeys } {
  assertTexts(raw);
  const { policy } = parseInput(member, { policy: unescaped(raw) });
  const formerKeys = new Map<string, string>();
  for (const kind of ['permissions', 'groups', 'roles', 'tags', 'apps', 'webhooks'] as const) {
    const rows: Record<string, { readonly renamedFrom?: string | undefined }> = policy[kind];
    for (const [name, { renamedFrom: former }] of Object.entries(rows))
      if (former !== undefined) formerKeys.set(formerKey(kind, name), former);
  }
  return { document: complete(policy), formerKeys };
}

/** Drops `$schema` and `renamedFrom`, and fills in members that default to the key or a part of it. */
function complete({ $schema: _, resources: given, ...policy }: Parsed): PolicyDocument {
  const mapped = <T, R>(rows: Record<string, T>, map: (row: T, name: string) => R): Record<string, R> =>
    Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, map(row, name)]));
  return {
    ...policy,
    resources: mapped(given, (row, name) => ({ ...row, name: row.name ?? name })),
    permissions: mapped(policy.permissions, ({ renamedFrom: _former, ...row }, name) => {
      const named = targetOf(name);
      const { resource = named.resource, action = named.action } = row;
      return { ...row, resource, action };
    }),
    groups: mapped(policy.groups, ({ renamedFrom: _former, ...row }) => row),
    roles: mapped(policy.roles, ({ renamedFrom: _former, ...row }) => row),
    tags: mapped(policy.tags, ({ renamedFrom: _former, ...row }) => row),
    apps: mapped(policy.apps, ({ renamedFrom: _former, ...row }) => row),
    webhooks: mapped(policy.webhooks, ({ renamedFrom: _former, ...row }) => row),
    // In zod's type an optional member may be undefined, but parsed JSON simply lacks it.
    tests: policy.tests as readonly PolicyTest[],
  };
}
