/** How the sizes of cached values are estimated. An object that several cached values share counts once. */
export interface SizeOptions<V> {
  /** Budget for all values together. */
  readonly maxBytes: number;
  /** Bytes of the value, without the shared object. */
  readonly ownBytes: (value: V) => number;
  /** The object that other values may share, and its bytes. */
  readonly sharedPart?: (value: V) => readonly [part: object, bytes: number];
}

/** Tracks the memory that cached values use, and whether it exceeds the budget. */
interface SizeBudget<V> {
  add(value: V): void;
  /** Call once for each added value. */
  remove(value: V): void;
  isExceeded(): boolean;
}

export function createSizeBudget<V>({ maxBytes, ownBytes, sharedPart }: SizeOptions<V>): SizeBudget<V> {
  const sharers = new Map<object, number>();
  let used = 0;

  function share(value: V, by: 1 | -1): void {
    const [part, bytes] = sharedPart?.(value) ?? [];
    if (part === undefined || bytes === undefined) return;
    const before = sharers.get(part) ?? 0;
    const after = before + by;
    if (after === 0) sharers.delete(part);
    else sharers.set(part, after);
    if (before === 0) used += bytes;
    else if (after === 0) used -= bytes;
  }

  return {
    add(value) {
      used += ownBytes(value);
      share(value, 1);
    },
    remove(value) {
      used -= ownBytes(value);
      share(value, -1);
    },
    isExceeded: () => used > maxBytes,
  };
}
