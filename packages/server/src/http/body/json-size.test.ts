import { expect, it } from 'vitest';
import { jsonBytes } from './json-size.ts';

it.each([
  [null],
  [true],
  [-1.5e-7],
  [''],
  ['plain'],
  ['a "quote" and \\ and \n and \u0001'],
  ['grün, 漢字, 😀, \ud800'],
  [new Date('2026-01-02T03:04:05.006Z')],
  [[]],
  [{}],
  [[1, [2, [3, null]], 'x']],
  [{ a: 1, 'ü"': { b: [{}, { c: 'd' }] }, gone: undefined, last: [] }],
])('is the length of %j', (value) => {
  expect(jsonBytes(value, Infinity)).toBe(Buffer.byteLength(JSON.stringify(value)));
});

it('ends soon after the bound', () => {
  const wide = Array.from({ length: 100 }, () => 'x'.repeat(100));
  const much = Array.from({ length: 1000 }, () => wide);
  expect(jsonBytes(much, 5000)).toBeLessThan(12_000);
});
