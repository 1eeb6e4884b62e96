import { expect, it } from 'vitest';
import { pairs } from './breadth.ts';

it('over a hundred operations every value meets every other one, and every operation', () => {
  const factors = { tenant: [1, 2, 3, 4], token: [1, 2, 3, 4], owner: [1, 2], transport: [1, 2] };
  const rows = Array.from({ length: 100 }, (_, index) => pairs(index, factors));
  const names = Object.keys(factors) as (keyof typeof factors)[];
  for (const operation of rows)
    for (const name of names)
      expect(new Set(operation.map((row) => row[name])).size).toBe(factors[name].length);
  for (const factor of names)
    for (const other of names.filter((name) => name !== factor)) {
      const met = new Set(rows.flat().map((row) => `${String(row[factor])}-${String(row[other])}`));
      expect(met.size, `${factor} and ${other}`).toBe(factors[factor].length * factors[other].length);
    }
});
