import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DoorwardError, type Detail } from '../../errors.ts';
import { parseInput } from './validate.ts';
import { refusal, text, uuid } from './values.ts';

/** The details of a refused input, as `code@path`. */
function faults(schema: z.ZodType, raw: unknown): string[] {
  try {
    parseInput(schema, raw);
  } catch (error) {
    if (!(error instanceof DoorwardError)) throw error;
    expect(error.code).toBe('VALIDATION_ERROR');
    return (error.extras.details ?? []).map(({ path, code }: Detail) => `${code}@${path}`);
  }
  return [];
}

it('gives the parsed output', () => {
  expect(parseInput(z.strictObject({ name: text(1, 9) }), { name: ' a ' })).toEqual({ name: 'a' });
});

describe('detail codes', () => {
  it.each<[string, z.ZodType, unknown, string[]]>([
    ['missing text', z.object({ a: z.string() }), {}, ['required@a']],
    ['missing enum', z.object({ a: z.enum(['x']) }), {}, ['required@a']],
    ['missing literal', z.object({ a: z.literal('x') }), {}, ['required@a']],
    ['missing union', z.object({ a: z.union([z.string(), z.number()]) }), {}, ['required@a']],
    ['missing tuple item', z.object({ a: z.tuple([z.string()]) }), { a: [] }, ['too_short@a']],
    ['missing root', z.object({}), undefined, ['required@']],
    ['null', z.object({ a: z.string() }), { a: null }, ['type@a']],
    ['wrong type', z.object({ a: z.object({ b: z.number() }) }), { a: { b: '1' } }, ['type@a.b']],
    ['wrong root', z.object({}), [], ['type@']],
    ['fraction', z.number().int(), 1.5, ['type@']],
    ['NaN', z.number(), NaN, ['type@']],
    ['unsafe integer', z.int(), 2 ** 60, ['too_big@']],
    ['multiple', z.number().multipleOf(5), 3, ['type@']],
    ['short text', z.string().min(2), 'a', ['too_short@']],
    ['long text', z.string().max(2), 'abc', ['too_long@']],
    ['short list', z.array(z.string()).min(1), [], ['too_short@']],
    ['long list', z.object({ a: z.array(z.string()).max(1) }), { a: ['x', 'y'] }, ['too_long@a']],
    ['short set', z.set(z.string()).min(1), new Set(), ['too_short@']],
    ['small number', z.number().min(2), 1, ['too_small@']],
    ['big number', z.number().int().max(2), 3, ['too_big@']],
    ['small date', z.date().min(new Date(1)), new Date(0), ['too_small@']],
    ['big bigint', z.bigint().max(1n), 2n, ['too_big@']],
    ['format', z.array(uuid), ['x'], ['format@0']],
    ['enum', z.object({ a: z.enum(['x']) }), { a: 'y' }, ['enum@a']],
    ['literal', z.literal('x'), 'y', ['enum@']],
    [
      'unknown fields',
      z.strictObject({ s: z.strictObject({}) }),
      { s: { x: 1, y: 2 } },
      ['unknown_field@s.x', 'unknown_field@s.y'],
    ],
    ['record key', z.record(z.string().max(1), z.number()), { ab: 1 }, ['too_long@ab']],
    ['custom with code', z.string().refine(() => false, { params: { code: 'taken' } }), 'a', ['taken@']],
    [
      'custom with an unknown code',
      z.string().refine(() => false, { params: { code: 'toString' } }),
      'a',
      ['format@'],
    ],
    ['custom without code', z.object({ a: z.string().refine(() => false) }), { a: 'a' }, ['format@a']],
    [
      'custom on an absent value',
      z
        .object({ a: z.string().optional() })
        .check((p) => void p.issues.push(refusal('excluded', undefined, ['a']))),
      {},
      ['excluded@a'],
    ],
  ])('%s', (_name, schema, raw, expected) => expect(faults(schema, raw)).toEqual(expected));
});

describe('unions', () => {
  const target = z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('user'), id: uuid }),
    z.strictObject({ kind: z.literal('group') }),
  ]);
  const schema = z.object({
    a: z.union([z.string().min(3), z.strictObject({ b: z.strictObject({ c: z.number() }) })]),
  });

  it.each<[string, z.ZodType, unknown, string[]]>([
    ['tells of the option whose kind fits', schema, { a: 'x' }, ['too_short@a']],
    ['tells of the deepest fault', schema, { a: { b: { c: 'x' } } }, ['type@a.b.c']],
    ['no kind fits', schema, { a: 7 }, ['type@a']],
    ['no discriminator', target, {}, ['required@kind']],
    ['unknown discriminator', target, { kind: 'x' }, ['enum@kind']],
    ['inside a discriminated option', target, { kind: 'user', id: 'x' }, ['format@id']],
  ])('%s', (_name, union, raw, expected) => expect(faults(union, raw)).toEqual(expected));
});

it('keeps the order of the fields, unknown ones last', () => {
  const schema = z.strictObject({ a: z.string(), b: z.strictObject({ c: z.string() }), d: z.number() });
  expect(faults(schema, { z: 1, d: 'x', b: {} })).toEqual([
    'required@a',
    'required@b.c',
    'type@d',
    'unknown_field@z',
  ]);
});

it('reports at most 20 faults, each once', () => {
  expect(faults(z.array(z.number()), Array(50).fill('x'))).toHaveLength(20);
  const twice = z
    .string()
    .refine(() => false)
    .refine(() => false);
  expect(faults(twice, 'a')).toEqual(['format@']);
});

it('never echoes a value, nor a long field name in full', () => {
  const long = 'k'.repeat(5000);
  const [fault = ''] = faults(z.strictObject({}), { [long]: 'secret-value' });
  expect(fault.length).toBeLessThan(100);
  expect(fault).not.toContain('secret');
});

describe('the fix', () => {
  const fixOf = (schema: z.ZodType, raw: unknown): string | undefined => {
    try {
      parseInput(schema, raw);
    } catch (error) {
      if (!(error instanceof DoorwardError)) throw error;
      return error.extras.fix;
    }
    throw new Error('it was accepted');
  };
  const many = Array.from({ length: 100 }, (_, index) => `value-${index}`);
  const name = z.string().refine((text) => many.includes(text), { params: { code: 'enum', allowed: many } });
  const kinds = z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('user') }),
    z.strictObject({ kind: z.literal('group') }),
  ]);

  it.each<[string, z.ZodType, unknown, string | undefined]>([
    ['enum', z.object({ a: z.enum(['x', 'y']) }), { a: 'z' }, 'Use one of: x, y.'],
    ['literal', z.object({ a: z.literal('x') }), { a: 'y' }, 'Use one of: x.'],
    ['discriminator', kinds, { kind: 'x' }, 'Use one of: user, group.'],
    ['type', z.object({ a: z.object({}) }), { a: 'x' }, 'Send an object.'],
    ['nullable', z.object({ a: z.string().nullable() }), { a: 1 }, 'Send a string.'],
    ['union', z.union([z.string(), z.strictObject({ b: z.string() })]), 3, 'Send a string or an object.'],
    [
      'several',
      z.object({ a: z.enum(['x']), b: z.int() }),
      { a: 'z', b: 'z' },
      'a: use one of: x. b: send a number.',
    ],
    ['required', z.object({ a: z.enum(['x']) }), {}, undefined],
    ['format', uuid, 'x', undefined],
  ])('of %s', (_name, schema, raw, fix) => expect(fixOf(schema, raw)).toBe(fix));

  it('is limited, and then begins with the nearest value', () => {
    const fix = fixOf(name, 'valeu-77') ?? '';
    expect(fix).toMatch(/^Use one of: value-77, value-0, .*, ….$/);
    expect(fix.length).toBeLessThan(330);
    const all = fixOf(z.array(name), Array(20).fill('secret-value')) ?? '';
    expect(all.length).toBeLessThan(700);
    expect(all).not.toContain('secret');
  });
});
