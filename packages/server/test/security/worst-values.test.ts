import { afterAll, beforeAll, expect, test } from 'vitest';
import { definitionName, type JsonSchema } from '../../src/kernel/output/json-schema.ts';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import { operations } from '../../src/operations.ts';
import { house, type House } from '../contract/world.ts';
import { sampleInput, schemas } from '../contract/sample.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { isWhole, portion } from '../support/cases/breadth.ts';
import { transports, type Via } from '../support/app/client.ts';
import { leastToll } from '../support/app/event-loop.ts';

/**
 * No single request may use more than its share (1 s of the event loop, 8 MiB of response): each field of each
 * operation gets the values that are most expensive to process, as large as a request may be. Generated from the
 * declarations, so that a new field is covered without a test of its own.
 */
const MOST_BYTES = 8 * 1024 * 1024;
/**
 * A quarter of the maximum body, in a quarter of the time: work that grows faster than its input is detected here
 * already.
 */
const BODY = 256 * 1024;
const MOST_MS = 250;
/** A URL may have 8 KiB, and each of these characters is encoded as three. */
const ADDRESS = 2000;

let app: TestApp;
let home: House;
beforeAll(async () => {
  app = await startApp();
  home = await house(app);
}, 120_000);
afterAll(() => app.close());

/** The path of a value in an input. */
type Place = readonly (string | number)[];

interface Field {
  readonly place: Place;
  readonly schema: JsonSchema;
}

/** Fields of a definition that many operations share (`ScopeInput`) are read by the same code. */
const shared = new Set<string>();
function isNew(schema: JsonSchema): boolean {
  const definition = definitionName(schema);
  if (definition === undefined) return true;
  if (shared.has(definition)) return false;
  shared.add(definition);
  return true;
}

const resolved = (schema: JsonSchema): JsonSchema => {
  const definition = definitionName(schema);
  if (definition !== undefined) return resolved(schemas.inputs[definition] ?? {});
  const options = (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== 'null');
  return options.length === 1 ? resolved(options[0] as JsonSchema) : schema;
};

/** Every field of an input, including nested ones. */
function fieldsOf(schema: JsonSchema, place: Place = [], depth = 0): Field[] {
  const { properties = {}, items } = resolved(schema);
  const inner = Object.entries(properties).flatMap(([name, jsonSchema]) => [
    { place: [...place, name], schema: jsonSchema },
    ...(depth < 4 && isNew(jsonSchema) ? fieldsOf(jsonSchema, [...place, name], depth + 1) : []),
  ]);
  return items && depth < 4 ? [...inner, ...fieldsOf(items, [...place, 0], depth + 1)] : inner;
}

/**
 * Expensive for Unicode normalization, for patterns with nested repeats, for counting characters, and for parsers of
 * addresses.
 */
const texts = (size: number): string[] => [
  `a${'\u0300\u0323'.repeat(size / 5)}`,
  `${'a-'.repeat(size / 2 - 1)}!`,
  `${'a.'.repeat(size / 2 - 1)}@`,
  `{{${'user.'.repeat(size / 6)}}}`,
];

const nested = (levels: number, make: (inner: unknown) => unknown): unknown =>
  levels === 0 ? 1 : make(nested(levels - 1, make));

/** Wide, deep and long: for code that counts members, walks them or compares each with each. */
const structures: readonly unknown[] = [
  Object.fromEntries(Array.from({ length: BODY / 12 }, (_, at) => [`k${at}`, 1])),
  { And: Array.from({ length: BODY / 30 }, () => ({ Equals: { 'user.id': 'x' } })) },
  nested(26, (inner) => ({ Not: inner })),
  Array.from({ length: 30_000 }, (_, at) => at % 7),
  Array.from({ length: BODY / 20 }, (_, at) => `10.${at % 256}.0.0/${at % 33}`),
];

/** Created once: every field gets the same ones. */
const textsInBody = texts(BODY);
const textsInAddress = texts(ADDRESS);

const inQuery = (op: NamedOperation): boolean => op.method === 'GET' || op.method === 'DELETE';

/** The input with another value at a path; undefined where the sample has no such path. */
function withValue(input: unknown, [key = '', ...rest]: Place, value: unknown): unknown {
  const inner = (input ?? (typeof key === 'number' ? [] : {})) as Record<string, unknown>;
  const changed = rest.length === 0 ? value : withValue(inner[key], rest, value);
  return Array.isArray(inner) ? [changed] : { ...inner, [key]: changed };
}

const pathNames = (op: NamedOperation): ReadonlySet<string> =>
  new Set([...op.path.matchAll(/:([A-Za-z]+)/g)].map(([, name = '']) => name));

interface Worst {
  readonly what: string;
  readonly ms: number;
  readonly bytes: number;
}
const slowest: Worst[] = [];

async function measured(
  op: NamedOperation,
  vias: readonly Via[],
  sample: unknown,
  { place }: Field,
  value: unknown,
): Promise<void> {
  const input = withValue(sample, place, value);
  for (const via of vias) {
    const what = `${op.name} ${place.join('.')} over ${via}`;
    const call = () => app.raw(op.name, input, { token: home.person.token, via });
    const { result, blockedMs } = await leastToll(MOST_MS, call);
    expect(result.status, `${what}: ${result.body.slice(0, 500)}`).toBeLessThan(500);
    expect(Buffer.byteLength(result.body), what).toBeLessThan(MOST_BYTES);
    expect(blockedMs, what).toBeLessThan(MOST_MS);
    slowest.push({ what, ms: blockedMs, bytes: Buffer.byteLength(result.body) });
  }
}

const hasPattern = (schema: JsonSchema): boolean => {
  const { format, pattern, items } = resolved(schema);
  return format !== undefined || pattern !== undefined || (items !== undefined && hasPattern(items));
};

/** Only small values fit into a URL, which is limited to 8 KiB. */
const isSmall = (op: NamedOperation, { place }: Field): boolean =>
  inQuery(op) || pathNames(op).has(String(place[0]));

/** False: no pattern checks the value and only authenticated callers can send it, so only normalizing it is costly. */
const isRead = (op: NamedOperation, { schema }: Field): boolean =>
  op.access === 'public' || hasPattern(schema);

const seen = new Set<string>();
/** The cost depends on the schema, so the fast suite tests one field per schema, and at least one per operation. */
function differing(op: NamedOperation, fields: readonly Field[]): readonly Field[] {
  if (isWhole()) return fields;
  const others = fields.filter((field) => {
    const { description: _, examples: __, ...schema } = field.schema;
    const key = JSON.stringify([schema, isSmall(op, field), isRead(op, field)]);
    return !seen.has(key) && seen.add(key);
  });
  return others.length > 0 ? others : fields.slice(0, 1);
}

const cases = operations
  .map((op, index) => ({ op, index, fields: differing(op, fieldsOf(schemas.of(op).input)) }))
  .filter(({ fields }) => fields.length > 0);

test.each(cases.map((case_) => [case_.op.name, case_] as const))(
  '%s',
  async (_, { op, index, fields }) => {
    const scope = op.scoped ? home.places[op.tenants?.[0] ?? 'account'].scope : undefined;
    const sample = sampleInput(op, scope);
    const vias = op.only === 'rest' ? (['rest'] as const) : portion(transports, index);
    for (const field of fields) {
      const small = isSmall(op, field);
      const sent = small ? textsInAddress : textsInBody;
      for (const value of isRead(op, field) ? sent : sent.slice(0, 1))
        await measured(op, ['rest'], sample, field, value);
      for (const value of small ? [] : structures) await measured(op, vias, sample, field, value);
    }
  },
  120_000,
);

test('prints the slowest request', () => {
  const by = (key: 'ms' | 'bytes') => slowest.reduce((a, b) => (b[key] > a[key] ? b : a));
  process.stdout.write(
    `worst values: ${slowest.length} requests, slowest ${Math.round(by('ms').ms)} ms (${by('ms').what}), ` +
      `largest ${by('bytes').bytes} bytes (${by('bytes').what})\n`,
  );
  expect(slowest.length).toBeGreaterThan(isWhole() ? 1000 : 500);
});
