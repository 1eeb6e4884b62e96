import type { ExampleIds } from '../../kernel/example-ids.ts';
import { definitionName, type JsonSchema } from '../../kernel/json-schema.ts';
import type { NamedOperation } from '../../kernel/operation.ts';
import { tenants, type ScopeRef, type Tenant } from '../../kernel/scope.ts';

/**
 * Example inputs, composed of the examples of fields (`.meta({ examples })`), so that none is written twice. An example
 * holds what is required, and of the rest what has an example of its own.
 */

/** The first of these that an operation allows is the tenant of its example. */
const preferred: readonly Tenant[] = ['organizationProject', 'organization', 'account', ...tenants];

export function exampleScope(allowed: readonly Tenant[] = tenants, ids: ExampleIds): ScopeRef {
  const tenant = preferred.find((one) => allowed.includes(one)) ?? 'organization';
  const idOf: Record<Tenant, string> = {
    account: ids.account,
    organization: ids.organization,
    accountProject: `${ids.account}:${ids.project}`,
    organizationProject: `${ids.organization}:${ids.project}`,
    projectUser: `${ids.project}:${ids.account}`,
  };
  return { tenant, id: idOf[tenant] };
}

/** An example body of an operation whose members are `properties`. */
export function exampleBody(
  { tenants: allowed }: Pick<NamedOperation, 'tenants'>,
  body: JsonSchema,
  context: { readonly definitions: Readonly<Record<string, JsonSchema>>; readonly ids: ExampleIds },
): unknown {
  const scope = exampleScope(allowed, context.ids);
  // OAuth has a `scope` too, which is another thing and a text.
  const { scope: place, ...properties } = body.properties ?? {};
  const example = exampleOf({ ...body, properties }, context.definitions) as object;
  return place?.$ref ? { scope, ...example } : example;
}

/** What a schema's own example is, or what its members' examples make; undefined where there is none. */
export function exampleOf(schema: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>): unknown {
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
