/**
 * How much memory the values of a cache take, as estimated by whoever knows them. A part that several values refer to
 * counts once, as long as any of them is there.
 */
export interface Sizes<V> {
  /** What all together may take. */
  readonly most: number;
  /** Bytes of the value alone. */
  readonly own: (value: V) => number;
  /** What it may share with others, and the bytes of that. */
  readonly shared?: (value: V) => readonly [part: object, bytes: number];
}

export interface Room<V> {
  add(value: V): void;
  /** Of a value that was added, once. */
  remove(value: V): void;
  isOverfull(): boolean;
}

export function createRoom<V>({ most, own, shared }: Sizes<V>): Room<V> {
  const sharers = new Map<object, number>();
  let used = 0;

  function share(value: V, by: 1 | -1): void {
    const [part, bytes] = shared?.(value) ?? [];
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
      used += own(value);
      share(value, 1);
    },
    remove(value) {
      used -= own(value);
      share(value, -1);
    },
    isOverfull: () => used > most,
  };
}
