import type { ExampleIds } from '../../kernel/example-ids.ts';
import type { JsonSchema } from '../../kernel/json-schema.ts';
import { tenants, type Tenant } from '../../kernel/scope.ts';
import { exampleScope } from './examples.ts';

/** Scopes as the document shows them: with the tenants that an operation allows, and each in one spelling. */

/** The document has one spelling of a tenant, although more are accepted. */
export const inOneSpelling = (schema: JsonSchema): JsonSchema => ({ ...schema, enum: tenants });

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** `['account', 'organization']` → `AccountOrOrganizationScope`. */
const nameOf = (allowed: readonly Tenant[]): string =>
  allowed.length === tenants.length ? 'ScopeInput' : `${allowed.map(capital).join('Or')}Scope`;

export const scopeRef = (allowed: readonly Tenant[] = tenants): JsonSchema => ({
  $ref: `#/$defs/${nameOf(allowed)}`,
});

/** The schemas that `scopeRef` leads to, beside that of any scope. */
export function narrowedScopes(
  operations: readonly { readonly tenants?: readonly Tenant[] }[],
  any: JsonSchema,
): Record<string, JsonSchema> {
  const all = operations.flatMap(({ tenants: allowed }) => (allowed ? [allowed] : []));
  const narrow = all.filter((allowed) => allowed.length < tenants.length);
  return Object.fromEntries(
    narrow.map((allowed) => {
      const tenant = { type: 'string', enum: allowed, description: 'The kind of scope.' };
      return [nameOf(allowed), { ...any, properties: { ...any.properties, tenant } }];
    }),
  );
}

/** A scope in a query, with an example that can be sent as it stands. */
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
