/**
 * Values that nobody can change. Questions come again in the very same words (src/transport/known-bodies.ts): what was
 * read of such a body is one frozen value for all calls, and what follows from it alone is made of it once.
 */

/** With everything in it: what many calls share, none may change. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}

/** The same function, which works once for each frozen value, and for all others each time. Kept as long as the value. */
export function onceForFrozen<V extends object, R>(make: (value: V) => R): (value: V) => R {
  const made = new WeakMap<V, { readonly result: R }>();
  return (value) => {
    if (!Object.isFrozen(value)) return make(value);
    const known = made.get(value);
    if (known) return known.result;
    const result = make(value);
    made.set(value, { result });
    return result;
  };
}
