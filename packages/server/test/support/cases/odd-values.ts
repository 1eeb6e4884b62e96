import { randomUUID } from 'node:crypto';
import { definitionName, type JsonSchema } from '../../../src/kernel/output/json-schema.ts';
import type { Chance } from './chance.ts';

/**
 * Values for a schema: mostly valid, so that they pass the first checks, and sometimes invalid. The id of a reference
 * (`roleId`) is chosen from `known`, or refers to no row.
 */
export interface Drawing {
  readonly chance: Chance;
  readonly definitions: Readonly<Record<string, JsonSchema>>;
  /** Ids of rows that exist. */
  readonly ids: readonly string[];
  /** Scopes that exist, of any owner. */
  readonly scopes: readonly unknown[];
  /** Share of values that are invalid by the schema. */
  readonly odd: number;
}

const strings = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\u202e',
  '\ufeff',
  '😀'.repeat(300),
  "'; drop table users; --",
  '%00',
  '%',
  '_',
  '\\',
  '{{user.id}}',
  '${7*7}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  'null',
  'undefined',
  'NaN',
  '-1',
  '1e400',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '2026-02-30T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  'x'.repeat(10_000),
  '\r\nSet-Cookie: a=b',
  'İ',
  'ﬀ',
];
const numbers = [0, -0, -1, 1, 0.1, 1e21, 1e308, -1e308, 2 ** 31, 2 ** 53, 2 ** 63, 101, 50];

const deep = (levels: number): unknown => (levels === 0 ? 1 : { And: [deep(levels - 1)] });

function oddValue({ chance, ids }: Drawing): unknown {
  switch (chance.below(9)) {
    case 0:
    case 1:
      return chance.pick(strings);
    case 2:
      return chance.pick(numbers);
    case 3:
      return chance.pick([true, false, null, null]);
    case 4:
      return [];
    case 5:
      return chance.pick([{}, { $ref: 'user.id' }, { constructor: 1 }, JSON.parse('{"__proto__":{"a":1}}')]);
    case 6:
      return Array.from({ length: chance.pick([1, 3, 101, 1001]) }, () => chance.pick(strings));
    case 7:
      return deep(chance.pick([3, 9, 40]));
    default:
      return ids.length > 0 ? chance.pick(ids) : randomUUID();
  }
}

/** Undefined: omit it. */
export function drawn(schema: JsonSchema, name: string, drawing: Drawing, depth = 0): unknown {
  const { chance, definitions, ids, scopes, odd } = drawing;
  if (chance.of(odd)) return oddValue(drawing);
  if (name === 'scope' && scopes.length > 0) return chance.pick(scopes);
  const definition = definitionName(schema);
  if (definition !== undefined) return drawn(definitions[definition] ?? {}, name, drawing, depth);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return drawn(chance.pick(options), name, drawing, depth + 1);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return chance.pick(schema.enum);
  if (/(^id|Ids?)$/.test(name) && schema.type === 'string' && ids.length > 0) return chance.pick(ids);
  switch (String(schema.type)) {
    case 'string':
      return text(schema, drawing);
    case 'integer':
    case 'number':
      return chance.pick([schema['minimum'] ?? 0, schema['maximum'] ?? 7, 1, 2, 50]);
    case 'boolean':
      return chance.of(0.5);
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: chance.below(4) }, () =>
        drawn(schema.items ?? {}, name, drawing, depth + 1),
      );
    case 'object':
      return depth > 6 ? {} : members(schema, drawing, depth);
    default:
      return oddValue(drawing);
  }
}

/** Required members nearly always, others half the time, unknown ones rarely. */
export function members(schema: JsonSchema, drawing: Drawing, depth = 0): Record<string, unknown> {
  const { chance } = drawing;
  const required = new Set(schema.required ?? []);
  const made: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (chance.of(required.has(name) ? 0.97 : 0.4)) made[name] = drawn(member, name, drawing, depth + 1);
  }
  if (chance.of(0.02)) made[chance.pick(['extra', '__proto__', 'constructor', ''])] = oddValue(drawing);
  return made;
}

function text(schema: JsonSchema, { chance }: Drawing): string {
  switch (schema.format) {
    case 'uuid':
      return randomUUID();
    case 'email':
      return `${randomUUID().slice(0, 8)}@example.test`;
    case 'uri':
      return chance.pick(['https://hooks.example.test/x', 'https://example.test/', 'http://127.0.0.1/']);
    case 'date-time':
      return chance.pick(['2040-01-01T00:00:00.000Z', '2020-01-01T00:00:00+01:00', '2026-11-21T10:00:00Z']);
    case undefined:
      break;
  }
  const length = Math.max(Number(schema['minLength'] ?? 1), chance.pick([1, 8, 43]));
  return chance.pick(['query', 'Role', 'Sample', 'x'.repeat(length), `sample-${chance.below(1e6)}`]);
}
