import {
  rowSections,
  type ChangesClaims,
  type RowSection,
  type SnapshotRows,
} from '@doorward/decision/snapshot-claims';

/** The difference between an earlier version of a snapshot and the current version. */
export type Difference = Pick<ChangesClaims, 'put' | 'drop'>;

interface History {
  /** The length of all stored changes as JSON. */
  readonly bytes: number;
  /** Stores a change. `before`: the rows of the version `from`. */
  add(from: string, difference: Difference, before: SnapshotRows): void;
  /** The changes since a version; null if they are not stored, or too large for a difference. */
  since(version: string): Difference | null;
  clear(): void;
}

const MAX_CHANGES = 32;
/**
 * A larger difference is not worth its memory: the caller fetches the snapshot instead, which is at most six times as
 * long.
 */
const MAX_BYTES = 1024 * 1024;

interface Change {
  readonly from: string;
  readonly difference: Difference;
  /** The ids of rows that this change adds. */
  readonly added: ReadonlySet<string>;
  readonly bytes: number;
}

export function createHistory(): History {
  let changes: Change[] = [];
  let total = 0;

  function dropOldest(): void {
    total -= changes.shift()?.bytes ?? 0;
  }

  return {
    get bytes() {
      return total;
    },
    add(from, difference, before) {
      const bytes = JSON.stringify(difference).length;
      changes.push({ from, difference, added: addedIds(difference, before), bytes });
      total += bytes;
      while (changes.length > 0 && (changes.length > MAX_CHANGES || total > MAX_BYTES)) dropOldest();
    },
    since(version) {
      const index = changes.findLastIndex(({ from }) => from === version);
      if (index < 0) return null;
      return merge(changes.slice(index));
    },
    clear() {
      changes = [];
      total = 0;
    },
  };
}

type Row = SnapshotRows[RowSection][number];
const sections = Object.keys(rowSections) as RowSection[];

function idOf(section: RowSection, row: Row): string {
  const ids: { readonly id?: string; readonly clientId?: string } = row;
  return ids[rowSections[section]] ?? '';
}

/** The ids of the rows that a difference adds. Ids of all sections are UUIDs, so two sections never share an id. */
function addedIds({ put }: Difference, before: SnapshotRows): ReadonlySet<string> {
  const added = new Set<string>();
  for (const section of sections) {
    for (const row of put[section] ?? []) added.add(idOf(section, row));
    if (put[section]) for (const row of before[section]) added.delete(idOf(section, row));
  }
  return added;
}

/**
 * Merges several differences into one with the same effect. A row that was added and then dropped is in neither `put`
 * nor `drop`.
 */
function merge(changes: readonly Change[]): Difference {
  const [only] = changes;
  if (only && changes.length === 1) return only.difference;
  const put: Record<string, Row[]> = {};
  const drop: Record<string, string[]> = {};
  for (const section of sections) {
    const last = new Map<string, { readonly row: Row | null; readonly isNew: boolean }>();
    for (const { difference, added } of changes) {
      for (const id of difference.drop[section] ?? [])
        last.set(id, { row: null, isNew: last.get(id)?.isNew ?? false });
      for (const row of difference.put[section] ?? []) {
        const id = idOf(section, row);
        last.set(id, { row, isNew: last.get(id)?.isNew ?? added.has(id) });
      }
    }
    const rows = [...last.values()].flatMap(({ row }) => row ?? []);
    const ids = [...last].flatMap(([id, { row, isNew }]) => (row === null && !isNew ? [id] : []));
    if (rows.length > 0) put[section] = rows;
    if (ids.length > 0) drop[section] = ids;
  }
  return { put, drop };
}
