import fc from 'fast-check';
import { expect, it } from 'vitest';
import { changesBetween } from '@doorward/decision/changes-between';
import { rowSections, type RowSection, type SnapshotRows } from '@doorward/decision/snapshot-claims';
import { createHistory, type Difference } from './history.ts';

/** Differences over several versions: composed, they lead from each stored version to the last one. */
const empty: SnapshotRows = {
  resources: [],
  permissions: [],
  groups: [],
  roles: [],
  users: [],
  keys: [],
  apps: [],
  ended: { jti: [], issuedBefore: null, kids: [] },
};

const someRows = fc
  .record({
    users: fc.uniqueArray(
      fc.record({ id: fc.nat(6).map((n) => `u${n}`), roleIds: fc.constantFrom([], ['r']) }),
      {
        selector: ({ id }) => id,
      },
    ),
    apps: fc.uniqueArray(
      fc.record({ clientId: fc.nat(3).map((n) => `c${n}`), scopes: fc.constant(null), updatedAt: fc.nat(1) }),
      { selector: ({ clientId }) => clientId },
    ),
  })
  .map((rows): SnapshotRows => ({ ...empty, ...rows }));

/** The rows after a difference; a dropped row must have been there. */
function applied(before: SnapshotRows, { put, drop }: Difference): SnapshotRows {
  const after: Record<string, unknown> = { ...before };
  for (const section of Object.keys(rowSections) as RowSection[]) {
    const idOf = (row: object) => (row as Record<string, string>)[rowSections[section]] ?? '';
    const rows = new Map(before[section].map((row) => [idOf(row), row] as [string, object]));
    for (const id of drop[section] ?? []) expect(rows.delete(id)).toBe(true);
    for (const row of put[section] ?? []) rows.set(idOf(row), row);
    after[section] = [...rows.values()];
  }
  return after as unknown as SnapshotRows;
}

const sorted = (rows: SnapshotRows) =>
  Object.entries(rows).map(([name, section]) => [
    name,
    Array.isArray(section) ? section.map((row) => JSON.stringify(row)).sort() : [],
  ]);

it('lead from each stored version to the last one', () => {
  fc.assert(
    fc.property(fc.array(someRows, { minLength: 2, maxLength: 8 }), (versions) => {
      const history = createHistory();
      for (const [index, rows] of versions.slice(1).entries()) {
        const before = versions[index] ?? empty;
        history.add(`v${index}`, changesBetween(before, rows), before);
      }
      const last = versions.at(-1) ?? empty;
      for (const [index, rows] of versions.slice(0, -1).entries()) {
        const difference = history.since(`v${index}`);
        expect(difference).not.toBeNull();
        expect(sorted(applied(rows, difference as Difference))).toEqual(sorted(last));
      }
      expect(history.since('unknown')).toBeNull();
    }),
  );
});

it('are stored up to a number and a size', () => {
  const history = createHistory();
  const users = (count: number) => ({
    ...empty,
    users: Array.from({ length: count }, (_, index) => ({ id: `u${index}`, roleIds: ['x'.repeat(1000)] })),
  });
  for (let index = 0; index < 40; index++) history.add(`v${index}`, { put: {}, drop: {} }, empty);
  expect([history.since('v7'), history.since('v8')]).toEqual([null, { put: {}, drop: {} }]);
  history.add('large', changesBetween(empty, users(2000)), empty);
  expect(history.since('large')).toBeNull();
  expect(history.since('v39')).toBeNull();
  expect(history.bytes).toBe(0);
});
