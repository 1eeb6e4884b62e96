import { randomUUID } from 'node:crypto';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import { definitionName, schemasOf, type JsonSchema } from '../../src/kernel/output/json-schema.ts';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import type { ScopeRef, Tenant } from '../../src/kernel/scope.ts';
import { operations } from '../../src/operations.ts';
import { unique } from '../support/app/client.ts';

/**
 * The smallest input that an operation accepts, generated from its JSON schema: required members only. Values come
 * from a table by name first, then from the format; a schema that neither covers fails with the name of the field.
 */
export const schemas = schemasOf(operations);

/** Permissions whose noun differs from that of their rows: `OrganizationInvitation` is about rows of Invitation. */
const targets = new Map(
  operations.map(({ permissionNoun, target }) => [target && permissionNoun, target?.name]),
);

/** Operations whose `id` names a row that no entity of their own lists in every scope. */
const named: Readonly<Record<string, string>> = {
  userPermissions: 'Subject',
  createProjectGrant: 'ProjectGrant',
  projectGrants: 'ProjectGrant',
};

/** The noun whose rows an operation reads or changes. */
export const nounOf = ({ name, target, permissionNoun = '' }: NamedOperation): string =>
  named[name] ?? target?.name ?? targets.get(permissionNoun) ?? permissionNoun;

/** Ids that must exist for the call to get through (`resourceId`), by field name. */
type Known = Readonly<Record<string, unknown>>;

const byName: Readonly<Record<string, () => unknown>> = {
  name: () => `Sample ${unique()}`,
  slug: () => `sample-${unique()}`,
  action: () => 'query',
  code: () => '123456',
  codeVerifier: () => 'v'.repeat(43),
  color: () => 'teal',
  'startCliSignIn.redirect': () => 'http://127.0.0.1:8976/done',
  'startCliSignIn.state': () => 'some-state',
  'startCliSignIn.code_challenge': () => 'c'.repeat(43),
  provider: () => 'email',
  providerId: () => `${unique()}@example.test`,
  password: () => `correct horse ${unique()}`,
  'authCheck.permission': () => 'Role:Query',
  permission: () => ({ resource: 'Role', action: 'Query' }),
  'isAuthorizedBatch.items': () => [{ permission: { resource: 'Role', action: 'Query' } }],
  subject: () => ({ type: 'user', id: 'somebody' }),
  resource: () => ({ type: 'Role', id: 'x' }),
  'authzenSubjectSearch.action': () => ({ name: 'Query' }),
  'authzenEvaluation.action': () => ({ name: 'Query' }),
  domain: () => `${unique()}.example.test`,
  'createOrganizationConnection.defaultRoleId': () => roleIdOf('Organization Viewer'),
  issuer: () => 'https://login.example.test',
  url: () => 'https://hooks.example.test/doorward',
  redirectUris: () => ['https://app.example.test/callback'],
  eventTypes: () => ['*'],
  since: () => 'v0',
  policy: () => ({ version: 1, tags: { [`sample ${unique()}`]: {} } }),
  from: () => 'current',
  to: () => 'current',
  // Of the right shape, so that what it is refused for is what it says.
  credential: () => ({
    id: 'c2FtcGxl',
    rawId: 'c2FtcGxl',
    type: 'public-key',
    response: {
      clientDataJSON: 'e30',
      attestationObject: 'oA',
      authenticatorData: 'AAAA',
      signature: 'AAAA',
      userHandle: 'AAAA',
    },
  }),
};

/** The tenants that a caller can name: an AuthZEN endpoint has its scope in its path, and only projects have paths. */
export const nameableTenants = ({ protocol, tenants = [] }: NamedOperation): readonly Tenant[] =>
  protocol === 'authzen' ? tenants.filter((tenant) => tenant.endsWith('Project')) : tenants;

const byFormat: Readonly<Record<string, () => unknown>> = {
  uuid: randomUUID,
  email: () => `${unique()}@example.test`,
  uri: () => 'https://example.test/',
  'date-time': () => '2040-01-01T00:00:00.000Z',
  password: () => `correct horse ${unique()}`,
};

/** What an operation needs although its schema cannot express it: one of two fields, or more for a kind of tenant. */
const needed: Readonly<
  Record<string, (scope: ScopeRef | undefined, existing: Known) => Record<string, unknown>>
> = {
  createUser: (scope) => ({ name: `Sample ${unique()}`, ...newUserIn(scope?.tenant) }),
  // A key of an organization or account acts as one of its service users.
  createApiKey: (scope, { serviceUserId }) =>
    scope?.tenant === 'organization' || scope?.tenant === 'account'
      ? { userId: serviceUserId ?? randomUUID() }
      : {},
  createProjectGrant: (_, { roleId }) => ({
    email: `${unique()}@example.test`,
    roleIds: [roleId ?? randomUUID()],
  }),
  // So that it has a secret that can be rotated.
  createProjectApp: () => ({ confidential: true }),
  // Not a secret that an earlier test rotated.
  rotateWebhookSecret: () => ({ force: true }),
  authzenEvaluations: () => ({
    subject: { type: 'user', id: 'somebody' },
    action: { name: 'Query' },
    resource: { type: 'Role', id: 'x' },
  }),
  planPolicy: () => ({ policy: { version: 1 } }),
  verifyMfa: () => ({ code: '123456' }),
  isAuthorized: () => ({ permission: { resource: 'Role', action: 'Query' } }),
};

/** A service user where there can be one: keys of the organization or account need it. */
function newUserIn(tenant: string | undefined): Record<string, unknown> {
  if (tenant === 'organization') return { kind: 'service', roleIds: [roleIdOf('Organization Viewer')] };
  if (tenant === 'account') return { kind: 'service', roleIds: [roleIdOf('Account Onboarding')] };
  return { roleIds: [] };
}

export function sampleInput(
  op: NamedOperation,
  scope?: ScopeRef,
  existing: Known = {},
): Record<string, unknown> {
  const { properties = {}, required = [] } = schemas.of(op).input;
  const input: Record<string, unknown> = { ...needed[op.name]?.(scope, existing) };
  for (const name of required) {
    if (name === 'scope')
      input['scope'] = scope ?? { tenant: op.tenants?.[0] ?? 'account', id: randomUUID() };
    else input[name] = existing[name] ?? sampleOf(properties[name] ?? {}, name, `${op.name}.${name}`);
  }
  if (op.scoped && scope) input['scope'] = scope;
  return input;
}

function sampleOf(schema: JsonSchema, name: string, place: string): unknown {
  const named = byName[place] ?? byName[name];
  if (named) return named();
  const definition = definitionName(schema);
  if (definition !== undefined) return sampleOf(schemas.inputs[definition] ?? {}, name, place);
  const [option] = (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== 'null');
  if (option) return sampleOf(option, name, place);
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const formatted = schema.format === undefined ? undefined : byFormat[schema.format];
  if (formatted) return formatted();
  switch (String(schema.type)) {
    case 'string':
      if (schema['pattern'] !== undefined) break;
      return 'x'.repeat(Math.max(Number(schema['minLength'] ?? 1), 1));
    case 'integer':
    case 'number':
      return Number(schema['minimum'] ?? 1);
    case 'boolean':
      return false;
    case 'array':
      return Array.from({ length: Number(schema['minItems'] ?? 0) }, () =>
        sampleOf(schema.items ?? {}, name, place),
      );
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((key) => [
          key,
          sampleOf(schema.properties?.[key] ?? {}, key, `${place}.${key}`),
        ]),
      );
  }
  throw new Error(`no sample value for ${place}: add it to test/contract/sample.ts`);
}

/**
 * As much as an operation accepts: every member for which there is a sample, lists with as many items as may be, and `free` for
 * objects of any form. Not always valid together; what is refused for that is refused by then.
 */
export function fullInput(
  op: NamedOperation,
  scope: ScopeRef | undefined,
  existing: Known,
  free: unknown,
): Record<string, unknown> {
  const input = sampleInput(op, scope, existing);
  for (const [name, schema] of Object.entries(schemas.of(op).input.properties ?? {})) {
    if (name === 'scope' || name in existing || testedByHand.includes(`${op.name}.${name}`)) continue;
    const full = fullOf(schema, name, `${op.name}.${name}`, free);
    if (full !== undefined) input[name] = full;
  }
  return input;
}

/** The most items of a list whose schema has no limit of its own. */
const MANY = 1000;

function fullOf(schema: JsonSchema, name: string, place: string, free: unknown): unknown {
  const definition = definitionName(schema);
  if (definition !== undefined) return fullOf(schemas.inputs[definition] ?? {}, name, place, free);
  const [option] = (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== 'null');
  if (option) return fullOf(option, name, place, free);
  const { items, properties } = schema;
  if (items) {
    const most = Number(schema['maxItems'] ?? MANY);
    const all = Array.from({ length: most }, () => fullOf(items, name, place, free));
    return all.includes(undefined) ? undefined : all;
  }
  if (properties)
    return Object.fromEntries(
      Object.entries(properties).flatMap(([key, inner]) => {
        const value = fullOf(inner, key, `${place}.${key}`, free);
        return value === undefined ? [] : [[key, value]];
      }),
    );
  if (schema.type === 'object') return free;
  try {
    return sampleOf(schema, name, place);
  } catch {
    return undefined; // no sample, and not required
  }
}

/**
 * Members that exclude another one or other scopes: tested in src/tenants/users/users.test.ts and
 * test/journeys/onboarding-by-key.test.ts.
 */
const testedByHand = [
  // Beside the address, of which there is one of the two (project-grants.test.ts).
  'createProjectGrant.organizationId',
  'createUser.userId',
  'createApiKey.userId',
];

/** Input members that name rows: `id`, `roleId`, `groupIds` …; the noun follows from the name or the target. */
export function idMembers(
  op: NamedOperation,
): { name: string; noun: string; many: boolean; filter: boolean }[] {
  const filterable = op.kind === 'query';
  return Object.entries(schemas.of(op).input.properties ?? {}).flatMap(([name, schema]) => {
    if (name === 'ids') return [{ name, noun: nounOf(op), many: true, filter: true }];
    if (name === 'id') return [{ name, noun: nounOf(op), many: false, filter: false }];
    const stem = /^(\w+?)Ids?$/.exec(name)?.[1];
    const many = schema.type === 'array';
    const isUuid = (many ? schema.items : schema)?.format === 'uuid';
    if (stem === undefined || !isUuid || testedByHand.includes(`${op.name}.${name}`)) return [];
    return [{ name, noun: stem.charAt(0).toUpperCase() + stem.slice(1), many, filter: filterable }];
  });
}
