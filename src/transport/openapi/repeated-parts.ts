/**
 * A part that many operations have in the same form stands once under `components`, by its name; of several forms of one
 * name the most frequent does, and the others stay where they are.
 */
export class RepeatedParts {
  readonly #place: string;
  readonly #shared = new Map<string, { readonly key: string; readonly count: number }>();
  readonly #nameOf: (part: object) => string | undefined;

  /** `place`: the member of `components`. A part without a name is not shared. */
  constructor(place: string, parts: readonly object[], nameOf: (part: object) => string | undefined) {
    this.#place = place;
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

  /** The part itself, or a reference to it. */
  readonly refer = (part: object): object => {
    const name = this.#nameOf(part) ?? '';
    if (this.#shared.get(name)?.key !== JSON.stringify(part)) return part;
    return { $ref: `#/components/${this.#place}/${name}` };
  };

  /** What is referred to, by name. */
  get components(): Record<string, object> {
    const parts = [...this.#shared].map(([name, { key }]) => [name, JSON.parse(key) as object] as const);
    return Object.fromEntries(parts.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
