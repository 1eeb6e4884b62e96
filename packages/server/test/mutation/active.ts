/** Which mutants the code takes, and which it came by while it took none. */
let active: ReadonlySet<number> = new Set();
let hits = new Uint8Array(1 << 16);
let rounds = 0;
/** No loop of the code that is mutated has as many, so that one does not end. */
const MOST_ROUNDS = 1_000_000;

// What instrument.ts puts into the code.
Object.assign(globalThis, {
  __m: (id: number): boolean => {
    if (active.size > 0) return active.has(id);
    hits[id] = 1;
    return false;
  },
  __l: <T>(condition: T): T => {
    if (++rounds > MOST_ROUNDS && active.size > 0) throw new Error('does not end');
    return condition;
  },
});

export function activate(...ids: readonly number[]): void {
  rounds = 0;
  active = new Set(ids);
}

/** The mutants that the code came by since this was asked last. */
export function taken(): Set<number> {
  const ids = new Set<number>();
  hits.forEach((hit, id) => void (hit && ids.add(id)));
  hits = new Uint8Array(hits.length);
  return ids;
}
