import { QueryClient } from '@tanstack/react-query';
import { describe, expect, it, vi } from 'vitest';
import { applyExpectation as expectChange } from './expectation.ts';

interface Tag {
  readonly id: string;
  readonly name: string;
}

const [red, blue]: readonly [Tag, Tag] = [
  { id: '1', name: 'one' },
  { id: '2', name: 'two' },
];
const renamed: Tag = { id: '1', name: 'new' };

function cache(...entries: readonly (readonly [key: readonly unknown[], data: unknown])[]): QueryClient {
  const queries = new QueryClient();
  for (const [key, data] of entries) queries.setQueryData(key, data);
  return queries;
}

const rename = (queries: QueryClient, noun = 'Tag'): (() => void) =>
  expectChange(queries, ({ rows }) =>
    rows<Tag>(
      noun,
      // A row without a valid id would match too, but must never get here.
      ({ id }) => id !== '2',
      (row) => ({ ...row, name: 'new' }),
    ),
  );

describe('an expectation about rows', () => {
  it.each([
    ['a row', red, renamed],
    ['a page', { items: [blue, red], totalCount: 2 }, { items: [blue, renamed], totalCount: 2 }],
    [
      'pages',
      { pages: [{ items: [red] }, { items: [blue, red] }], pageParams: [null, 'c'] },
      { pages: [{ items: [renamed] }, { items: [blue, renamed] }], pageParams: [null, 'c'] },
    ],
  ])('changes %s, and is undone', (_, before, after) => {
    const queries = cache([['Tag', 'x'], before]);
    const undo = rename(queries);
    expect(queries.getQueryData(['Tag', 'x'])).toEqual(after);
    undo();
    expect(queries.getQueryData(['Tag', 'x'])).toEqual(before);
  });

  it.each([
    ['null', null],
    ['a text', '1'],
    ['rows outside a page', [red]],
    ['a row with a number as its id', { ...red, id: 1 }],
    ['a row without an id', { name: 'one' }],
    ['another row', blue],
    ["members with those names that aren't lists", { pages: 1, items: 2 }],
  ])('leaves %s alone', (_, data) => {
    const queries = cache([['Tag'], data]);
    const written = vi.spyOn(queries, 'setQueryData');
    rename(queries)();
    expect(queries.getQueryData(['Tag'])).toBe(data);
    expect(written).not.toHaveBeenCalled();
  });

  it('leaves rows of other nouns alone, also of one that begins alike', () => {
    const queries = cache([['TagGroup'], red], [['Role', 'Tag'], red], [['Tag', 'a', 'b'], red]);
    rename(queries);
    expect(queries.getQueryData(['TagGroup'])).toBe(red);
    expect(queries.getQueryData(['Role', 'Tag'])).toBe(red);
    expect(queries.getQueryData(['Tag', 'a', 'b'])).toEqual(renamed);
  });

  it('does not write into the data that was read', () => {
    const frozen = Object.freeze({ items: Object.freeze([Object.freeze({ ...red })]) });
    const queries = cache([['Tag'], frozen]);
    rename(queries);
    expect(queries.getQueryData(['Tag'])).toEqual({ items: [renamed] });
    expect(frozen.items[0]).toEqual(red);
  });
});

describe('an expectation about one answer', () => {
  it('does not make an answer that was never read', () => {
    const queries = cache();
    const patch = vi.fn(() => 'new');
    expectChange(queries, ({ answer }) => answer(['me'], patch))();
    expect(patch).not.toHaveBeenCalled();
    expect(queries.getQueryCache().getAll()).toEqual([]);
  });

  it('changes exactly the answer with the key', () => {
    const queries = cache([['me'], 1], [['me', 'more'], 1]);
    expectChange(queries, ({ answer }) => answer<number>(['me'], (before) => before + 1));
    expect(queries.getQueryData(['me'])).toBe(2);
    expect(queries.getQueryData(['me', 'more'])).toBe(1);
  });

  it('puts back the first data after several changes of it', () => {
    const queries = cache([['Tag'], red], [['count'], 0]);
    const undo = expectChange(queries, ({ rows, answer }) => {
      rows<Tag>(
        'Tag',
        () => true,
        (row) => ({ ...row, name: `${row.name}!` }),
      );
      rows<Tag>(
        'Tag',
        () => true,
        (row) => ({ ...row, name: `${row.name}?` }),
      );
      answer<number>(['count'], (count) => count + 1);
      answer<number>(['count'], (count) => count * 10);
    });
    expect(queries.getQueryData(['Tag'])).toEqual({ id: '1', name: 'one!?' });
    expect(queries.getQueryData(['count'])).toBe(10);
    undo();
    expect(queries.getQueryData(['Tag'])).toEqual(red);
    expect(queries.getQueryData(['count'])).toBe(0);
  });
});
