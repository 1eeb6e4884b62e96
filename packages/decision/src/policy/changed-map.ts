import { rowSections, type RowSection } from '../snapshot-claims.ts';
import { below } from './members.ts';
import type { DroppedIds } from './rows.ts';
import { SnapshotError } from './snapshot-error.ts';

/**
 * Applies changes to a section and returns a new map, or the same map if nothing changed. The new map is a copy that
 * shares the values with the old one; copying 10,000 entries takes less than a millisecond.
 */
export function changedMap<R extends object, V>(
  old: ReadonlyMap<string, V>,
  section: RowSection,
  rows: readonly R[],
  dropped: DroppedIds,
  valueOf: (row: R) => V,
): ReadonlyMap<string, V> {
  if (rows.length === 0 && dropped[section].length === 0) return old;
  const next = new Map(old);
  for (const [index, id] of dropped[section].entries()) {
    if (!next.delete(id)) throw new SnapshotError('SHAPE', `drop.${section}.${index}`, 'names no row');
  }
  const idMember = rowSections[section] as keyof R;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] as R;
    try {
      next.set(row[idMember] as string, valueOf(row));
    } catch (error) {
      throw below(error, `${section}.${index}`);
    }
  }
  return next;
}
