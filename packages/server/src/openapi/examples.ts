import type { ExampleIds } from '../kernel/output/example-ids.ts';
import { definitionName, type JsonSchema } from '../kernel/output/json-schema.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import { INSTALLATION_ID, tenants, type ScopeRef, type Tenant } from '../kernel/scope.ts';

/*
 * Composes example inputs from the examples of their fields (`.meta({ examples })`). An example contains the required
 * fields, and the optional fields that have an example.
 */

/** The example of an operation uses the first tenant in this list that the operation allows. */
const preferred: readonly Tenant[] = [
  'organizationProject',
  'organization',
  'account',
  ...tenants,
  'installation',
];

/** Returns the example scope of an operation that allows these tenants. */
export function exampleScope(allowed: readonly Tenant[] = tenants, ids: ExampleIds): ScopeRef {
  const tenant = preferred.find((item) => allowed.includes(item)) ?? 'organization';
  const idOf: Record<Tenant, string> = {
    account: ids.account,
    organization: ids.organization,
    accountProject: `${ids.account}:${ids.project}`,
    organizationProject: `${ids.organization}:${ids.project}`,
    projectUser: `${ids.project}:${ids.account}`,
    installation: INSTALLATION_ID,
  };
  return { tenant, id: idOf[tenant] };
}

/** Returns an example body for an operation. Its members are the `properties` of `body`. */
export function exampleBody(
  { tenants: allowed }: Pick<NamedOperation, 'tenants'>,
  body: JsonSchema,
  context: { readonly definitions: Readonly<Record<string, JsonSchema>>; readonly ids: ExampleIds },
): unknown {
  const scope = exampleScope(allowed, context.ids);
  // The `scope` of OAuth is a text, not a reference to a tenant.
  const { scope: scopeSchema, ...properties } = body.properties ?? {};
  const example = exampleOf({ ...body, properties }, context.definitions) as object;
  return scopeSchema?.$ref ? { scope, ...example } : example;
}

/** Returns the example of a schema, or one composed from its members; undefined if there is none. */
function exampleOf(schema: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>): unknown {
  const own = ownExample(schema);
  if (own !== undefined) return own;
  const name = definitionName(schema);
  if (name !== undefined) return exampleOf(definitions[name] ?? {}, definitions);
  const option = (schema.anyOf ?? schema.oneOf)?.find(({ type }) => type !== 'null');
  if (option) return exampleOf(option, definitions);
  const constant = schema.const ?? schema.enum?.[0] ?? schema.default;
  if (constant !== undefined) return constant;
  if (schema.type === 'object') return objectExample(schema, definitions);
  if (schema.type === 'boolean') return true;
  if (schema.type !== 'array') return undefined;
  const item = exampleOf(schema.items ?? {}, definitions);
  return item === undefined ? [] : [item];
}

function objectExample(
  { properties = {}, required = [] }: JsonSchema,
  definitions: Record<string, JsonSchema>,
) {
  const members = Object.entries(properties).flatMap(([name, member]) => {
    const example = required.includes(name) ? exampleOf(member, definitions) : ownExample(member);
    return example === undefined ? [] : [[name, example] as const];
  });
  return Object.fromEntries(members);
}

const ownExample = (schema: JsonSchema): unknown =>
  (schema['examples'] as readonly unknown[] | undefined)?.[0];
