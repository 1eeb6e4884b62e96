import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { leastToll } from '../../../test/support/app/event-loop.ts';
import { faultsOf } from './validate.ts';
import {
  email,
  httpsUrl,
  iso,
  isoInput,
  jsonObject,
  jsonSchemaOptions,
  jsonSchemaOverride,
  metadata,
  text,
  url,
  uuid,
} from './values.ts';

/** `ok:<value>` or `code@path` of the first detail. */
function outcome(schema: z.ZodType, raw: unknown): unknown {
  const result = schema.safeParse(raw, { reportInput: true });
  if (result.success) return { ok: result.data };
  const [detail] = faultsOf(result.error.issues);
  return detail && (detail.path ? `${detail.code}@${detail.path}` : detail.code);
}

describe('uuid', () => {
  it.each([
    ['0190F6A8-3C1D-7000-8000-00000000ABCD', { ok: '0190f6a8-3c1d-7000-8000-00000000abcd' }],
    ['00000000-0000-0000-0000-000000000000', { ok: '00000000-0000-0000-0000-000000000000' }],
    ['0190f6a83c1d7000800000000000abcd', 'format'],
    ['{0190f6a8-3c1d-7000-8000-00000000abcd}', 'format'],
    ['0190f6a8-3c1d-7000-8000-00000000abcd\n', 'format'],
    ['', 'format'],
    [7, 'type'],
    [undefined, 'required'],
  ])('%j', (raw, expected) => expect(outcome(uuid, raw)).toEqual(expected));
});

describe('isoInput', () => {
  it.each([
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59.000Z'],
    ['2026-01-01T00:30:00.5+01:00', '2025-12-31T23:30:00.500Z'],
    ['2026-01-01t00:00:00.123z', '2026-01-01T00:00:00.123Z'],
    ['2026-01-01T00:00:00-00:00', '2026-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ])('takes %s', (raw, expected) => expect(isoInput.parse(raw).toISOString()).toBe(expected));

  it.each([
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2024-04-31T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-10T00:00:00Z',
    '2024-01-00T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T23:59:60Z',
    '2024-01-01T00:00:00+24:00',
    '2024-01-01T00:00:00+01:60',
    '2024-01-01T00:00:00.1234Z',
    '2024-01-01T00:00:00',
    '2024-01-01T00:00Z',
    '2024-01-01 00:00:00Z',
    '2024-01-01',
    '0000-06-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '+010000-01-01T00:00:00Z',
    '',
  ])('refuses %s', (raw) => expect(outcome(isoInput, raw)).toBe('format'));

  it('parses every instant that it can format', () => {
    const instant = fc.date({
      min: new Date('0001-01-02'),
      max: new Date('9999-12-30'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instant, (date) => {
        expect(isoInput.parse(date.toISOString())).toEqual(date);
      }),
    );
  });
});

describe('email', () => {
  it.each([
    [' Ada.Lovelace@Example.ORG ', { ok: 'ada.lovelace@example.org' }],
    ['ada@localhost', { ok: 'ada@localhost' }],
    ['ada@BÜCHER.example', { ok: 'ada@xn--bcher-kva.example' }],
    ['ada@bu\u0308cher.example', { ok: 'ada@xn--bcher-kva.example' }],
    ['jose\u0301+x@example.org', { ok: 'jos\u00e9+x@example.org' }],
    ['ada@例え。テスト', { ok: 'ada@xn--r8jz45g.xn--zckzah' }],
    [`${'a'.repeat(242)}@example.org`, { ok: `${'a'.repeat(242)}@example.org` }],
    [`${'a'.repeat(243)}@example.org`, 'too_long'],
    ['ada', 'format'],
    ['@example.org', 'format'],
    ['ada@', 'format'],
    ['ada@example', 'format'],
    ['ada@b@example.org', 'format'],
    ['ada@example.org.', 'format'],
    ['ada@.org', 'format'],
    ['ada@-a.org', 'format'],
    ['ada@127.0.0.1', 'format'],
    ['ada@0x7f.1', 'format'],
    ['ada@[127.0.0.1]', 'format'],
    ['ada@example.org/x', 'format'],
    ['ada@example.org:25', 'format'],
    ['ada@ex%61mple.org', 'format'],
    ['ada@xn--0.org', 'format'],
    ['a,b@example.org', 'format'],
    ['"a b"@example.org', 'format'],
    ['-oQ/tmp@example.org', 'format'],
    ['=?utf-8?q?ada=40evil.example?=@example.org', 'format'],
    ['a b@example.org', 'format'],
    ['a\u0000b@example.org', 'format'],
    ['a\u200bb@example.org', 'format'],
    ['a\r\nbcc:x@example.org', 'format'],
    ['a\ud800@example.org', 'format'],
    ['', 'format'],
    [undefined, 'required'],
    [1, 'type'],
  ])('%j', (raw, expected) => expect(outcome(email, raw)).toEqual(expected));

  it('is idempotent', () => {
    const part = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.emailAddress(),
          fc.tuple(part, part).map(([a, b]) => `${a}@${b}.org`),
        ),
        (raw) => {
          const once = email.safeParse(raw);
          if (once.success) expect(email.parse(once.data)).toBe(once.data);
        },
      ),
    );
  });
});

describe('url', () => {
  it.each([
    ['https://example.org', { ok: 'https://example.org' }],
    ['HTTP://Example.org:8080/a?b=c@d', { ok: 'HTTP://Example.org:8080/a?b=c@d' }],
    ['https://[::1]/x', { ok: 'https://[::1]/x' }],
    [`https://example.org/${'a'.repeat(2028)}`, { ok: `https://example.org/${'a'.repeat(2028)}` }],
    [`https://example.org/${'a'.repeat(2029)}`, 'too_long'],
    ['https://u:p@example.org', 'format'],
    ['https://@example.org', 'format'],
    ['https://example.org/#', 'format'],
    ['https://example.org/#a', 'format'],
    ['ftp://example.org', 'format'],
    ['javascript:alert(1)', 'format'],
    ['https:example.org', 'format'],
    ['https:///example.org', 'format'],
    ['https:\\\\example.org', 'format'],
    ['https://ex\\@ample.org', 'format'],
    ['//example.org', 'format'],
    ['/a', 'format'],
    [' https://example.org', 'format'],
    ['https://exam\tple.org', 'format'],
    ['https://a b.org', 'format'],
    ['https://a:99999', 'format'],
    ['', 'format'],
    [null, 'type'],
  ])('%j', (raw, expected) => expect(outcome(url, raw)).toEqual(expected));

  it('httpsUrl refuses http', () => {
    expect(outcome(httpsUrl, 'http://example.org')).toBe('format');
    expect(outcome(httpsUrl, 'https://example.org')).toEqual({ ok: 'https://example.org' });
  });
});

describe('text', () => {
  it.each([
    ['  Ada  ', { ok: 'Ada' }],
    ['\tAda\n', { ok: 'Ada' }],
    ['e\u0301', { ok: '\u00e9' }],
    ['😀😀😀😀😀', { ok: '😀😀😀😀😀' }],
    ['😀😀😀😀😀😀', 'too_long'],
    ['abcdef', 'too_long'],
    ['   ', 'too_short'],
    ['', 'too_short'],
    ['a\nb', 'format'],
    ['a\u0000b', 'format'],
    ['a\u007fb', 'format'],
    ['a\u0085b', 'format'],
    ['a\ud800b', 'format'],
    [undefined, 'required'],
    [null, 'type'],
    [['a'], 'type'],
  ])('%j', (raw, expected) => expect(outcome(text(1, 5), raw)).toEqual(expected));

  it.each([
    ['31 marks on one letter', `a${'\u0300'.repeat(31)}`, 'format'],
    ['spaces alone, more than four times the bound', ' '.repeat(401), 'too_long'],
  ])('refuses before normalising: %s', (_, raw, code) => expect(outcome(text(1, 100), raw)).toBe(code));

  it('accepts 30 marks on one letter', () => {
    expect(text(1, 100).safeParse(`a${'\u0323'.repeat(30)}`).success).toBe(true);
  });

  it('multiline keeps line feeds and tabs only', () => {
    const description = text(0, 100, { multiline: true });
    expect(outcome(description, 'a\n\tb')).toEqual({ ok: 'a\n\tb' });
    expect(outcome(description, 'a\r\nb')).toBe('format');
    expect(outcome(description, '')).toEqual({ ok: '' });
  });

  it('reports one fault only, if another check follows', () => {
    const result = text(2, 5).regex(/^z/).safeParse('a', { reportInput: true });
    expect(result.error?.issues).toHaveLength(1);
  });
});

describe('metadata', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));

  it.each<[string, unknown]>([
    ['empty', {}],
    ['every kind', { a: 'x', b: 1.5, c: true, d: null, e: [1, ['x']], 'f.g_h-1': {} }],
    ['depth 5', nested(5)],
    ['64 keys', keys(64)],
    ['a key of 64', { ['k'.repeat(64)]: 1 }],
    ['8192 bytes', { a: 'x'.repeat(8192 - 8) }],
    ['no prototype', Object.assign(Object.create(null) as object, { a: 1 })],
  ])('takes %s', (_name, raw) => expect(outcome(metadata, raw)).toEqual({ ok: raw }));

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'required'],
    ['null', null, 'type'],
    ['an array', [], 'type'],
    ['text', '{}', 'type'],
    ['depth 6', nested(6), 'too_deep@a.a.a.a.a'],
    ['an array at depth 6', { a: { a: { a: { a: { a: [] } } } } }, 'too_deep@a.a.a.a.a'],
    ['65 keys', keys(65), 'too_long'],
    ['65 keys in all', { a: keys(32), b: keys(31) }, 'too_long@b'],
    ['8193 bytes', { a: 'x'.repeat(8192 - 7) }, 'too_long'],
    ['8193 bytes in characters of two', { a: 'é'.repeat(4093) }, 'too_long'],
    ['a space in a key', { 'a b': 1 }, 'format'],
    ['an empty key', { '': 1 }, 'format'],
    ['a key of 65', { a: { ['k'.repeat(65)]: 1 } }, 'format@a'],
    ['a key with a line feed', { 'a\n': 1 }, 'format'],
    ['__proto__', JSON.parse('{"__proto__":{"admin":true}}'), 'format'],
    ['constructor', { a: [{ constructor: 1 }] }, 'format@a.0'],
    ['prototype', { prototype: 1 }, 'format'],
    ['NUL', { a: 'x\u0000' }, 'format@a'],
    ['a lone surrogate', { a: ['\udfff'] }, 'format@a.0'],
    ['an integer that was rounded', { a: [2 ** 53] }, 'too_big@a.0'],
    ['a negative integer that was rounded', { a: -(2 ** 60) }, 'too_small@a'],
    ['NaN', { a: NaN }, 'type@a'],
    ['a bigint', { a: 1n }, 'type@a'],
    ['undefined inside', { a: undefined }, 'type@a'],
    ['a date', { a: new Date() }, 'type@a'],
  ])('refuses %s', (_name, raw, expected) => expect(outcome(metadata, raw)).toBe(expected));

  it('refuses a cycle', () => {
    const cycle: Record<string, unknown> = {};
    cycle['a'] = cycle;
    expect(outcome(metadata, cycle)).toBe('too_deep@a.a.a.a.a');
  });

  it('is required as a field, and can be optional', () => {
    expect(outcome(z.strictObject({ metadata }), {})).toBe('required@metadata');
    expect(outcome(z.strictObject({ metadata: metadata.optional() }), {})).toEqual({ ok: {} });
    expect(outcome(z.strictObject({ metadata: metadata.default({}) }), {})).toEqual({ ok: { metadata: {} } });
  });
});

it('never throws', () => {
  const schemas = [
    uuid,
    isoInput,
    email,
    url,
    httpsUrl,
    text(1, 20),
    text(0, 9, { multiline: true }),
    metadata,
  ];
  const anything = fc.oneof(
    fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, withSparseArray: true }),
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'binary' }).map((s) => `a@${s}.org`),
    fc.string({ unit: 'binary' }).map((s) => `https://${s}`),
    fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  );
  fc.assert(
    fc.property(fc.constantFrom(...schemas), anything, (schema: z.ZodType, raw) => {
      const result = schema.safeParse(raw, { reportInput: true });
      if (!result.success) expect(faultsOf(result.error.issues).length).toBeGreaterThan(0);
    }),
    { numRuns: 2000 },
  );
});

it('checks very long input in linear time', async () => {
  const long = 'a'.repeat(1_000_000);
  const { blockedMs } = await leastToll(5000, () => {
    for (const schema of [uuid, isoInput, email, url, text(1, 100)]) schema.safeParse(long);
    email.safeParse(`${long}@${long}`);
    url.safeParse(`https://${long}`);
    return Promise.resolve();
  });
  expect(blockedMs).toBeLessThan(5000);
});

it('renders as JSON Schema', () => {
  const input = (schema: z.ZodType) => {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
    return rest;
  };
  expect(input(uuid)).toMatchObject({ type: 'string', format: 'uuid' });
  expect(input(isoInput)).toEqual({ type: 'string', format: 'date-time' });
  expect(input(email)).toEqual({ type: 'string', format: 'email', maxLength: 254 });
  expect(input(url)).toEqual({ type: 'string', format: 'uri', maxLength: 2048 });
  expect(input(text(1, 255))).toEqual({ type: 'string', minLength: 1, maxLength: 255 });
  expect(input(text(0, 1000))).toEqual({ type: 'string', maxLength: 1000 });
  expect(input(metadata)).toMatchObject({ type: 'object', additionalProperties: true });
  expect(input(z.strictObject({ metadata, name: text(1, 2).optional() }))).toMatchObject({
    required: ['metadata'],
  });

  const output = z.toJSONSchema(z.object({ at: iso, email, metadata, until: iso.nullable() }), {
    ...jsonSchemaOptions,
    io: 'output',
  });
  expect(output).toMatchObject({
    properties: {
      at: { type: 'string', format: 'date-time' },
      email: { type: 'string', format: 'email' },
      metadata: { type: 'object', additionalProperties: true },
      until: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
    },
    required: ['at', 'email', 'metadata', 'until'],
  });

  const sent = z.object({
    count: z.int(),
    id: uuid,
    any: jsonObject,
    each: z
      .array(z.string())
      .transform((all) => new Set(all))
      .meta({ examples: [['a']] }),
  });
  expect(z.toJSONSchema(sent, { ...jsonSchemaOptions, io: 'input' })).toMatchObject({
    properties: {
      count: { type: 'integer' },
      id: { type: 'string', format: 'uuid' },
      any: { type: 'object', additionalProperties: {} },
      each: { type: 'array', examples: [['a']] },
    },
  });
  expect(jsonSchemaOptions.override).toBe(jsonSchemaOverride);
});
