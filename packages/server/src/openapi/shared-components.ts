/**
 * Moves objects that occur more than once to `components`. If objects with the same name differ, the most frequent one
 * is moved and the others stay inline.
 */
export class SharedComponents {
  readonly #section: string;
  readonly #shared = new Map<string, { readonly key: string; readonly count: number }>();
  readonly #nameOf: (part: object) => string | undefined;

  /** `section` is the name of the member in `components`. An object without a name stays inline. */
  constructor(section: string, parts: readonly object[], nameOf: (part: object) => string | undefined) {
    this.#section = section;
    this.#nameOf = nameOf;
    const counts = new Map<string, number>();
    for (const part of parts) {
      const name = nameOf(part);
      if (name === undefined) continue;
      const key = JSON.stringify(part);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count > 1 && count > (this.#shared.get(name)?.count ?? 0)) this.#shared.set(name, { key, count });
    }
  }

  /** Returns a reference to the object, or the object itself if it stays inline. */
  readonly refer = (part: object): object => {
    const name = this.#nameOf(part) ?? '';
    if (this.#shared.get(name)?.key !== JSON.stringify(part)) return part;
    return { $ref: `#/components/${this.#section}/${name}` };
  };

  /** The objects that were moved, by name. */
  get components(): Record<string, object> {
    const parts = [...this.#shared].map(([name, { key }]) => [name, JSON.parse(key) as object] as const);
    return Object.fromEntries(parts.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
