interface Staleness {
  /** Marks the data that was read, or is being read, as out of date. */
  mark(): void;
  isStale(): boolean;
  /** Whether the data is stale and no running read began after the last mark. */
  needsRead(): boolean;
  /** Call it before a read, and the returned function after the read. */
  begin(): (hasSucceeded: boolean) => void;
}

/**
 * Tracks whether data that was read is out of date, and whether a running read will make it current. The data is stale
 * until the first read.
 */
export function createStaleness(): Staleness {
  let marks = 1;
  /** How many marks came before the last completed read (`read`), and before the last read that began (`begun`). */
  let read = 0;
  let begun = 0;
  return {
    mark: () => void marks++,
    isStale: () => read < marks,
    needsRead: () => begun < marks,
    begin() {
      const at = (begun = marks);
      return (hasSucceeded) => {
        if (hasSucceeded) read = at;
        else begun = read;
      };
    },
  };
}
