import type { ExampleIds } from '../kernel/output/example-ids.ts';
import type { JsonSchema } from '../kernel/output/json-schema.ts';
import { tenants, type Tenant } from '../kernel/scope.ts';
import { exampleScope } from './examples.ts';

/** Returns the schema with one spelling of each tenant, although the API accepts several. */
export const canonicalTenants = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  enum: [...tenants, 'installation'],
});

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** @example `['account', 'organization']` → `AccountOrOrganizationScope` */
const nameOf = (allowed: readonly Tenant[]): string =>
  isAny(allowed) ? 'ScopeInput' : `${allowed.map(capital).join('Or')}Scope`;

const isAny = (allowed: readonly Tenant[]): boolean => tenants.every((tenant) => allowed.includes(tenant));

export const scopeRef = (allowed: readonly Tenant[] = tenants): JsonSchema => ({
  $ref: `#/$defs/${nameOf(allowed)}`,
});

/** The schemas that `scopeRef` refers to, except `ScopeInput`, which allows every tenant. */
export function narrowedScopes(
  operations: readonly { readonly tenants?: readonly Tenant[] }[],
  any: JsonSchema,
): Record<string, JsonSchema> {
  const all = operations.flatMap(({ tenants: allowed }) => (allowed ? [allowed] : []));
  const narrow = all.filter((allowed) => !isAny(allowed));
  return Object.fromEntries(
    narrow.map((allowed) => {
      const tenant = { type: 'string', enum: allowed, description: 'The kind of scope.' };
      return [nameOf(allowed), { ...any, properties: { ...any.properties, tenant } }];
    }),
  );
}

/** Returns the query parameters of a scope, with an example that can be sent unchanged. */
export function scopeParameters(
  allowed: readonly Tenant[] = tenants,
  { required, ids }: { readonly required: boolean; readonly ids: ExampleIds },
): object[] {
  const example = exampleScope(allowed, ids);
  const needed = required ? { required } : {};
  return [
    {
      name: 'tenant',
      in: 'query',
      ...needed,
      description: 'The kind of scope.',
      schema: { type: 'string', enum: allowed },
      example: example.tenant,
    },
    {
      name: 'scopeId',
      in: 'query',
      ...needed,
      description: 'Id of the scope: one UUID (account, organization), or two joined by `:`.',
      schema: { type: 'string', maxLength: 73 },
      example: example.id,
    },
  ];
}

/** The servers of AuthZEN paths: the root, where the token names the scope, and the issuer of each project. */
export const authzenServers = [
  { url: '/' },
  ...['org/{organizationId}', 'acc/{accountId}'].map((owner) => ({
    url: `/${owner}/prj/{projectId}`,
    variables: Object.fromEntries(
      [owner.slice(5, -1), 'projectId'].map((name) => [
        name,
        { default: '00000000-0000-0000-0000-000000000000' },
      ]),
    ),
  })),
];
