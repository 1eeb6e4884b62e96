import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Column } from '../../ui/tables/table.tsx';
import { csvOf } from './csv.ts';

interface Item {
  readonly id: string;
  readonly name: string;
}

const nameColumn: Column<Item> = { key: 'name', label: 'Name', cell: ({ name }) => name };
const table = (...names: readonly string[]): string =>
  csvOf(
    [nameColumn],
    names.map((name, index) => ({ id: String(index), name })),
  );

/** Reads RFC 4180 independently of the code under test. Throws if the text isn't a sequence of complete records. */
function parse(csv: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  while (cell.lastIndex < csv.length) {
    const at = cell.lastIndex;
    const match = cell.exec(csv);
    if (!match) throw new Error(`Not RFC 4180 at ${at}.`);
    const [, quoted, plain = '', end] = match;
    record.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ',') continue;
    records.push(record);
    record = [];
  }
  return records;
}

describe('csvOf', () => {
  it('writes the header of a list without rows', () => {
    expect(csvOf([nameColumn], [])).toBe('id,Name\r\n');
    expect(csvOf([], [])).toBe('id\r\n');
  });

  it.each([
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['"', '""""'],
    ['two\nlines', '"two\nlines"'],
    ['two\rlines', '"two\rlines"'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['a;b', 'a;b'],
    [' padded ', ' padded '],
    ['Ünï, 漢字 👩‍👩‍👧', '"Ünï, 漢字 👩‍👩‍👧"'],
    ['', ''],
  ])('writes %j as %j', (name, cell) => {
    expect(table(name)).toBe(`id,Name\r\n0,${cell}\r\n`);
  });

  it.each([
    ['\t=1+1', `'\t=1+1`],
    ['\r=1+1', `"'\r=1+1"`],
    ['=HYPERLINK("https://a.example","x")', `"'=HYPERLINK(""https://a.example"",""x"")"`],
    ['-1,5', `"'-1,5"`],
    // Only the first character of a cell matters for the apostrophe.
    ['1=1', '1=1'],
    ['a\n=1+1', '"a\n=1+1"'],
    [`'=1+1`, `'=1+1`],
  ])('keeps a spreadsheet from running %j', (name, cell) => {
    expect(table(name)).toBe(`id,Name\r\n0,${cell}\r\n`);
  });

  it('guards headings and ids like cells', () => {
    const column: Column<Item> = { ...nameColumn, label: '=A, "B"' };
    expect(csvOf([column], [{ id: '@id', name: 'n' }])).toBe(`id,"'=A, ""B"""\r\n'@id,n\r\n`);
  });

  it('prefers the text of a column to its cell, even if the text is empty', () => {
    expect(csvOf([{ ...nameColumn, text: () => '' }], [{ id: '1', name: 'n' }])).toBe('id,Name\r\n1,\r\n');
  });

  it('writes numbers, and leaves other cells empty', () => {
    const cells = [0, -1, null, undefined, false, true, ['a']];
    const columns = cells.map((cell, index): Column<Item> => ({
      key: String(index),
      label: 'c',
      cell: () => cell,
    }));
    expect(parse(csvOf(columns, [{ id: '1', name: '' }]))[1]).toEqual(['1', '0', `'-1`, '', '', '', '', '']);
  });

  it('is read back cell by cell, with an apostrophe before formulas only', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', '\t', '=', '+', '-', '@', `'`, 'a') }),
    );
    fc.assert(
      fc.property(fc.array(text), (names) => {
        const [header, ...rows] = parse(table(...names));
        expect(header).toEqual(['id', 'Name']);
        const isFormula = (name: string): boolean => '=+-@\t\r'.includes(name.charAt(0) || 'none');
        expect(rows.map(([, cell]) => cell)).toEqual(
          names.map((name) => (isFormula(name) ? `'${name}` : name)),
        );
      }),
    );
  });
});
