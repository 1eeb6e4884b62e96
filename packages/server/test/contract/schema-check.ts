import type { JsonSchema } from '../../src/kernel/output/json-schema.ts';

/**
 * Validates a value by a schema of the OpenAPI document: the part of JSON Schema 2020-12 that the document uses, and
 * an error for every other keyword, so that none is ignored silently. Stricter in one point: an object may only have
 * the members that its schema names, because responses are allow-lists.
 */
export interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
  readonly [member: string]: unknown;
}

const annotations = new Set(['description', 'default', 'title', 'examples', 'restOnly', 'id', '$schema']);

const formats: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  // Conventions §8: times in responses are UTC with three fractional digits.
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  email: /^[^@\s]+@[^@\s]+$/,
  uri: /^https?:\/\//,
  password: /^/,
};

/** The faults of the value, as `path: fault`; empty when it is valid. */
export function faultsOf(
  document: Document,
  schema: JsonSchema | boolean,
  value: unknown,
  place = '$',
): string[] {
  if (typeof schema === 'boolean') return schema ? [] : [`${place}: not allowed`];
  if (schema.$ref !== undefined) {
    const name = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref)?.[1] ?? '';
    const target = document.components.schemas[name];
    return target ? faultsOf(document, target, value, place) : [`${place}: ${schema.$ref} leads nowhere`];
  }
  const faults: string[] = [];
  const check = (holds: boolean, what: string) => void (holds || faults.push(`${place}: ${what}`));
  const inner = (item: JsonSchema | boolean, at = place, what: unknown = value) =>
    faultsOf(document, item, what, at);
  const members = isObject(value) ? value : {};
  for (const [keyword, rule] of Object.entries(schema)) {
    const limit = Number(rule);
    switch (keyword) {
      case 'type':
        check(
          [rule].flat().some((type) => isOfType(value, type as string)),
          `is no ${String(rule)}`,
        );
        break;
      case 'const':
        check(value === rule, `is not ${String(rule)}`);
        break;
      case 'enum':
        check((rule as unknown[]).includes(value), `is none of ${String(rule)}`);
        break;
      case 'anyOf':
      case 'oneOf': {
        const options = (rule as JsonSchema[]).map((jsonSchema) => inner(jsonSchema));
        if (!options.some((option) => option.length === 0))
          faults.push(...(options.sort((a, b) => a.length - b.length)[0] ?? []));
        break;
      }
      case 'allOf':
        for (const jsonSchema of rule as JsonSchema[]) faults.push(...inner(jsonSchema));
        break;
      case 'required':
        if (isObject(value)) for (const name of rule as string[]) check(name in value, `${name} is missing`);
        break;
      case 'properties':
        for (const [name, property] of Object.entries(rule as Record<string, JsonSchema>)) {
          if (name in members) faults.push(...inner(property, `${place}.${name}`, members[name]));
        }
        break;
      case 'additionalProperties':
        break;
      case 'propertyNames':
        for (const name of Object.keys(members))
          faults.push(...inner(rule as JsonSchema, `${place}.${name}`, name));
        break;
      case 'items':
        if (Array.isArray(value))
          value.forEach((item, index) =>
            faults.push(...inner(rule as JsonSchema, `${place}.${index}`, item)),
          );
        break;
      case 'format': {
        const form = formats[rule as string];
        check(form !== undefined, `has the unknown format ${String(rule)}`);
        if (typeof value === 'string') check(form?.test(value) ?? false, `is no ${String(rule)}`);
        break;
      }
      case 'pattern':
        if (typeof value === 'string')
          check(new RegExp(rule as string, 'u').test(value), `does not match ${String(rule)}`);
        break;
      case 'minLength':
        if (typeof value === 'string') check([...value].length >= limit, 'is too short');
        break;
      case 'maxLength':
        if (typeof value === 'string') check([...value].length <= limit, 'is too long');
        break;
      case 'minimum':
        if (typeof value === 'number') check(value >= limit, 'is too small');
        break;
      case 'maximum':
        if (typeof value === 'number') check(value <= limit, 'is too big');
        break;
      case 'minItems':
        if (Array.isArray(value)) check(value.length >= limit, 'has too few items');
        break;
      case 'maxItems':
        if (Array.isArray(value)) check(value.length <= limit, 'has too many items');
        break;
      default:
        check(
          annotations.has(keyword) || keyword.startsWith('x-'),
          `schema has the unknown keyword ${keyword}`,
        );
    }
  }
  faults.push(...unnamed(document, schema, members, place));
  return faults;
}

/** Validates by a schema that has its own definitions: that of the data of an event. */
export function dataFaults({ $defs, $schema: _, ...schema }: JsonSchema, value: unknown): string[] {
  const [own, schemas] = JSON.parse(
    JSON.stringify([schema, $defs ?? {}]).replaceAll('#/$defs/', '#/components/schemas/'),
  ) as [JsonSchema, Document['components']['schemas']];
  return faultsOf({ components: { schemas } }, own, value);
}

/** Members that the schema does not name: allowed where it says so, faults elsewhere. */
function unnamed(
  document: Document,
  schema: JsonSchema,
  members: Record<string, unknown>,
  place: string,
): string[] {
  const { properties, additionalProperties: more } = schema;
  if (!properties && more === undefined) return [];
  return Object.keys(members)
    .filter((name) => !(name in (properties ?? {})))
    .flatMap((name) =>
      more === undefined || more === false
        ? [`${place}.${name}: is not in the schema`]
        : faultsOf(document, more, members[name], `${place}.${name}`),
    );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
