import { randomUUID } from 'node:crypto';
import { roleIdOf } from '../../src/access/built-in.ts';
import { definitionName, schemasOf, type JsonSchema } from '../../src/kernel/json-schema.ts';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { operations } from '../../src/operations.ts';
import { unique } from '../support/client.ts';

/**
 * The smallest input that an operation accepts, from its JSON schema: what is required, and nothing else. Values come
 * from a table by name first, then from the format; a schema that neither covers fails with the name of the field.
 */
export const schemas = schemasOf(operations);

/** Of permissions that are named otherwise than their rows: `OrganizationInvitation` is about rows of Invitation. */
const targets = new Map(
  operations.map(({ permissionNoun, target }) => [target && permissionNoun, target?.name]),
);

/** The noun whose rows an operation is about. */
export const nounOf = ({ target, permissionNoun = '' }: NamedOperation): string =>
  target?.name ?? targets.get(permissionNoun) ?? permissionNoun;

/** Ids that must exist for the call to get through (`resourceId`), by field name. */
export type Known = Readonly<Record<string, unknown>>;

const byName: Readonly<Record<string, () => unknown>> = {
  name: () => `Sample ${unique()}`,
  slug: () => `sample-${unique()}`,
  action: () => 'query',
  code: () => '123456',
  codeVerifier: () => 'v'.repeat(43),
  color: () => 'teal',
  provider: () => 'email',
  providerId: () => `${unique()}@example.test`,
  password: () => `correct horse ${unique()}`,
  'authCheck.permission': () => 'Role:Query',
  permission: () => ({ resource: 'Role', action: 'Query' }),
  'isAuthorizedBatch.items': () => [{ permission: { resource: 'Role', action: 'Query' } }],
  url: () => 'https://hooks.example.test/doorward',
  redirectUris: () => ['https://app.example.test/callback'],
  eventTypes: () => ['*'],
};

const byFormat: Readonly<Record<string, () => unknown>> = {
  uuid: randomUUID,
  email: () => `${unique()}@example.test`,
  uri: () => 'https://example.test/',
  'date-time': () => '2040-01-01T00:00:00.000Z',
  password: () => `correct horse ${unique()}`,
};

/** What an operation needs although its schema cannot say so: one of two fields, or more by the kind of tenant. */
const needed: Readonly<Record<string, (scope: ScopeRef | undefined) => Record<string, unknown>>> = {
  createUser: (scope) => ({
    name: `Sample ${unique()}`,
    roleIds: scope?.tenant === 'organization' ? [roleIdOf('Organization Viewer')] : [],
  }),
  // So that its secret can be rotated.
  createProjectApp: () => ({ confidential: true }),
  // Whatever was rotated before.
  rotateWebhookSecret: () => ({ force: true }),
  verifyMfa: () => ({ code: '123456' }),
  isAuthorized: () => ({ permission: { resource: 'Role', action: 'Query' } }),
};

export function sampleInput(
  op: NamedOperation,
  scope?: ScopeRef,
  known: Known = {},
): Record<string, unknown> {
  const { properties = {}, required = [] } = schemas.of(op).input;
  const input: Record<string, unknown> = { ...needed[op.name]?.(scope) };
  for (const name of required) {
    if (name === 'scope')
      input['scope'] = scope ?? { tenant: op.tenants?.[0] ?? 'account', id: randomUUID() };
    else input[name] = known[name] ?? sampleOf(properties[name] ?? {}, name, `${op.name}.${name}`);
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

/** It excludes another field, and names rows of two scopes: tested in src/features/users/users.test.ts. */
const testedByHand = 'createUser.userId';

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
    if (stem === undefined || !isUuid || `${op.name}.${name}` === testedByHand) return [];
    return [{ name, noun: stem.charAt(0).toUpperCase() + stem.slice(1), many, filter: filterable }];
  });
}
