import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isoText } from './iso-text.ts';

const asJson = (value: unknown): unknown =>
  (JSON.parse(JSON.stringify({ value })) as { readonly value?: unknown }).value;

describe('isoText', () => {
  it('writes any time as JSON would, also one of a year that has not four digits, and none at all', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: false }), (date) => {
        expect(asJson(isoText(date))).toBe(asJson(date));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['0000-01-01T00:00:00.000Z'],
    ['1969-12-31T23:59:59.999Z'],
    ['1970-01-01T00:00:00.000Z'],
    ['2026-02-28T23:59:59.999Z'],
    ['2026-03-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z'],
  ])('writes %s as a text', (text) => {
    expect(isoText(new Date(text))).toBe(text);
  });

  it.each([['-000001-12-31T23:59:59.999Z'], ['+010000-01-01T00:00:00.000Z']])('leaves %s to JSON', (text) => {
    expect(isoText(new Date(text))).toBeInstanceOf(Date);
  });
});
