interface Staleness {
  /** What was read, or is being read, is out of date. */
  mark(): void;
  isStale(): boolean;
  /** Stale, and no read that is under way has begun after the last mark. */
  needsRead(): boolean;
  /** Called before a read. The returned function is called after it. */
  begin(): (hasSucceeded: boolean) => void;
}

/**
 * Tracks whether data that was read is out of date, and whether a read that is under way will make it current. Stale
 * until the first read.
 */
export function createStaleness(): Staleness {
  let marks = 1;
  /** The marks that the last read, and the read that is under way, come after. */
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
