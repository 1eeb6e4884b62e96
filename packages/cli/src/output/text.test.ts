import { expect, test } from 'vitest';
import { table } from './table.ts';
import { cut, visible, visibleJson, widthOf } from './text.ts';
import { relativeTime } from './times.ts';

test.each([
  ['\u001b[31mred', '\\u{1b}[31mred'],
  ['a\r\nb\tc', 'a\\u{d}\\u{a}b\\u{9}c'],
  ['\u202egnp.exe', '\\u{202e}gnp.exe'],
  ['\u2066x\u2069', '\\u{2066}x\\u{2069}'],
  ['\u009b2J', '\\u{9b}2J'],
  ['\u2028', '\\u{2028}'],
  ['\ud800', '\\u{d800}'],
  ['Zoë 🙂 東京', 'Zoë 🙂 東京'],
])('%j is shown without effect on the terminal', (text, shown) => {
  expect(visible(text)).toBe(shown);
  expect(JSON.parse(visibleJson({ text }))).toEqual({ text });
  expect(visibleJson({ text }).match(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)).toBeNull();
});

test('texts are cut by the columns that they take', () => {
  expect(cut('abcdef', 4)).toBe('abc…');
  expect(cut('東京都', 5)).toBe('東京…');
  expect(widthOf(cut('東京都', 4))).toBeLessThanOrEqual(4);
  expect(cut('abc', 3)).toBe('abc');
});

test('tables fit the window, and keep ids whole', () => {
  const id = '0192f0c2-0000-7000-8000-000000000000';
  const columns = [{ name: 'id', kind: 'id' as const }, { name: 'name' }, { name: 'note' }];
  const rows = [{ id, name: 'n'.repeat(80), note: 'short' }];
  const lines = table(columns, rows, 70, 0);
  expect(lines[0]).toMatch(/^ID {36}NAME +NOTE$/);
  expect(lines[1]).toMatch(new RegExp(`^${id}  n+…  short$`));
  expect(lines.map(widthOf).every((width) => width <= 70)).toBe(true);
  expect(table(columns, rows, 20, 0)[1]).toContain(id);
});

test.each([
  [-10, 'now'],
  [-90, '1 minute ago'],
  [7300, 'in 2 hours'],
  [-86_400 * 40, '1 month ago'],
  [86_400 * 90, 'in 3 months'],
])('%i seconds are %s', (seconds, text) => {
  expect(relativeTime(new Date(1e12 + seconds * 1000).toISOString(), 1e12)).toBe(text);
});
