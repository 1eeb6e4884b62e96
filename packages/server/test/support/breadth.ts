import { inject } from 'vitest';
import { transports, type Via } from './client.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `pairwise`: products of independent factors are covered by pairs. `whole`: every combination runs. */
    breadth: 'pairwise' | 'whole';
  }
}

export const isWhole = (): boolean => inject('breadth') === 'whole';

/**
 * The transports that the stories of a file run over: one of them in the fast suite, alternating by file, and both in
 * the exhaustive one. `contract/transports.test.ts` compares the transports for every operation.
 */
export function storyTransports({ filename }: Pick<ImportMeta, 'filename'>): readonly Via[] {
  const name = filename.slice(filename.lastIndexOf('/') + 1);
  return portion(transports, sumOf(name));
}

const sumOf = (text: string): number => [...text].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);

/**
 * All values in the exhaustive suite. In the fast one `count` of them, which move on with the index of the operation, so
 * that each value is tried with many operations.
 */
export const portion = <T>(values: readonly T[], index: number, count = 1): readonly T[] =>
  isWhole() || values.length <= count
    ? values
    : Array.from({ length: count }, (_, at) => values[(index * count + at) % values.length] as T);

type Combination<F> = { readonly [K in keyof F]: F[K] extends readonly (infer V)[] ? V : never };

/**
 * The combinations of factors that an operation is tried with: all of them, or in the fast suite as many as the longest
 * factor has values. Each value meets each operation then, and over the operations each value meets each other one.
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

/** Rows for one index; from one index to the next the factors move against each other, each at another speed. */
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
