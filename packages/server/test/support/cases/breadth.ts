import { inject } from 'vitest';
import { transports, type Via } from '../app/client.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `pairwise`: every pair of values of independent factors. `whole`: every combination. */
    breadth: 'pairwise' | 'whole';
  }
}

export const isWhole = (): boolean => inject('breadth') === 'whole';

/**
 * The transport that the tests of a file run over: one in the fast suite, picked by file name, and the other one in the
 * exhaustive suite. `contract/transports.test.ts` compares the transports for every operation.
 */
export function storyTransports({ filename }: Pick<ImportMeta, 'filename'>): readonly Via[] {
  const name = filename.slice(filename.lastIndexOf('/') + 1);
  const inFast = transports[sumOf(name) % transports.length];
  return transports.filter((via) => (via === inFast) !== isWhole());
}

const sumOf = (text: string): number => [...text].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);

/**
 * All values in the exhaustive suite, `count` of them in the fast suite. The selection rotates with the index of the
 * operation, so that each value is tested with many operations.
 */
export const portion = <T>(values: readonly T[], index: number, count = 1): readonly T[] =>
  isWhole() || values.length <= count
    ? values
    : Array.from({ length: count }, (_, at) => values[(index * count + at) % values.length] as T);

type Combination<F> = { readonly [K in keyof F]: F[K] extends readonly (infer V)[] ? V : never };

/**
 * The combinations of factors to test an operation with: all of them, or in the fast suite as many as the longest
 * factor has values. That covers every value for each operation, and every pair of values across the operations.
 */
export function combinations<F extends Readonly<Record<string, readonly unknown[]>>>(
  index: number,
  factors: F,
): Combination<F>[] {
  const all = isWhole() ? product(factors) : pairs(index, factors);
  return all as unknown as Combination<F>[];
}

type Factors = Readonly<Record<string, readonly unknown[]>>;
type Row = Readonly<Record<string, unknown>>;

const product = (factors: Factors): Row[] =>
  Object.entries(factors).reduce<Row[]>(
    (rows, [name, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}],
  );

/** The combinations for one index. Each factor advances at its own rate, so that the pairs differ between indexes. */
export function pairs(index: number, factors: Factors): Row[] {
  const lengths = Object.values(factors).map(({ length }) => length);
  return Array.from({ length: Math.max(...lengths) }, (_, at) =>
    Object.fromEntries(
      Object.entries(factors).map(([name, values], position) => {
        const moved = Math.floor(index / 3 ** position);
        return [name, values[(at + moved) % values.length]];
      }),
    ),
  );
}
