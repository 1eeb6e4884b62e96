import pg from 'pg';

/** Limits the memory, because the connection stores the plan of every named statement. */
const MAX_NAMED = 400;
/** How many texts of statements that ran only once are remembered. */
const MAX_SEEN = 1000;

type Arguments = [statement: unknown, values?: unknown, ...rest: unknown[]];

/**
 * A client that names each statement with parameters from its second execution on, so that it is parsed and planned
 * only once. For the embedded database, where parsing and planning take three quarters of the time of a short
 * statement, and no pooler shares the connection. Results are the same as without names.
 */
export class NamingClient extends pg.Client {
  readonly #names = new Map<string, string>();
  readonly #seen = new Set<string>();

  // The overloads of the driver differ only in how results are returned, which this method does not change.
  override query(...[statement, values, ...rest]: Arguments): never {
    const named = Array.isArray(values) && values.length > 0 ? this.#named(statement) : statement;
    return (super.query as (...statement: Arguments) => never)(named, values, ...rest);
  }

  #named(statement: unknown): unknown {
    const config = typeof statement === 'string' ? { text: statement } : (statement as pg.QueryConfig);
    if (config.name !== undefined || typeof config.text !== 'string') return statement;
    const name = this.#nameOf(config.text);
    return name === undefined ? statement : { ...config, name };
  }

  #nameOf(text: string): string | undefined {
    const name = this.#names.get(text);
    if (name !== undefined || this.#names.size >= MAX_NAMED) return name;
    if (!this.#seen.has(text)) {
      if (this.#seen.size >= MAX_SEEN) this.#seen.clear();
      this.#seen.add(text);
      return undefined;
    }
    this.#seen.delete(text);
    const fresh = `s${this.#names.size}`;
    this.#names.set(text, fresh);
    return fresh;
  }
}
