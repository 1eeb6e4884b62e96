import { rowSections, type ChangesClaims, type RowSection, type SnapshotRows } from './snapshot-claims.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Returns the difference between two snapshots: the full rows that are new or changed, and the ids of the rows that
 * were deleted. Rows are equal if their JSON is equal, whatever the order of members. `ended` is not compared, because
 * every set of changes contains it in full.
 *
 * @example changesBetween(before, after) // { put: { users: [{ id: 'u1', roleIds: [] }] }, drop: {} }
 */
export function changesBetween(
  before: Pick<SnapshotRows, RowSection>,
  after: Pick<SnapshotRows, RowSection>,
): Pick<ChangesClaims, 'put' | 'drop'> {
  const put: Mutable<ChangesClaims['put']> = {};
  const drop: Mutable<ChangesClaims['drop']> = {};
  for (const section of Object.keys(rowSections) as RowSection[]) {
    if (before[section] === after[section]) continue;
    const idOf = (row: object): string => (row as Record<string, unknown>)[rowSections[section]] as string;
    const old = new Map<string, object>();
    for (const row of before[section]) old.set(idOf(row), row);
    const changed: object[] = [];
    for (const row of after[section]) {
      const id = idOf(row);
      if (!isEqual(old.get(id), row)) changed.push(row);
      old.delete(id);
    }
    if (changed.length > 0) Object.assign(put, { [section]: changed });
    if (old.size > 0) drop[section] = [...old.keys()];
  }
  return { put, drop };
}

/** Whether two values are equal as JSON. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every(
      (name) =>
        Object.hasOwn(b, name) &&
        isEqual((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
    )
  );
}
