/** Random numbers that can be repeated (mulberry32); a failing test prints the seed. */
export interface Chance {
  /** 0 ≤ x < 1. */
  next(): number;
  /** True with this probability. */
  of(share: number): boolean;
  below(limit: number): number;
  pick<T>(from: readonly T[]): T;
}

export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    of: (share) => next() < share,
    below,
    pick<T>(from: readonly T[]) {
      if (from.length === 0) throw new Error('nothing to pick from');
      return from[below(from.length)] as T;
    },
  };
}
