/**
 * Counts the work of decisions, so that the work of one request is limited. Limits on single inputs are not enough,
 * because sizes multiply: conditions × lists, tests × roles × permissions, proposals × attributes.
 *
 * A step is roughly one comparison: 50 to 200 nanoseconds. Every loop whose length a caller can choose charges its
 * steps before it runs.
 *
 * @example
 * const work = new Work(4_000_000);
 * evaluate(grants, question, work); // throws WorkExceeded beyond four million steps
 */
export class Work {
  readonly budget: number;
  #spent = 0;
  readonly #byKind = new Map<WorkKind, number>();

  /** @param budget the number of steps that everything charged here may take in total */
  constructor(budget: number) {
    this.budget = budget;
  }

  /** Steps charged so far. */
  get spent(): number {
    return this.#spent;
  }

  /**
   * Adds steps of a kind.
   *
   * @throws WorkExceeded if the total exceeds the budget
   */
  charge(kind: WorkKind, steps: number): void {
    this.#spent += steps;
    this.#byKind.set(kind, (this.#byKind.get(kind) ?? 0) + steps);
    if (this.#spent > this.budget) throw new WorkExceeded(this.#heaviest(), this.budget);
  }

  #heaviest(): WorkKind {
    const [[kind] = ['comparisons' as const]] = [...this.#byKind].sort(([, a], [, b]) => b - a);
    return kind;
  }
}

/** The kinds of work, as errors report them. */
export type WorkKind =
  /** Comparisons of conditions with attributes. */
  | 'comparisons'
  /** Items of lists among the attributes. */
  | 'items'
  /** Paths from a role through a group to a permission. */
  | 'paths'
  /** Attribute values that might meet a condition, tried for an explanation. */
  | 'proposals'
  /** Combinations of alternatives in a condition, tried to find a contradiction. */
  | 'cases';

/** Thrown when work exceeds its budget. */
export class WorkExceeded extends Error {
  override readonly name = 'WorkExceeded';
  /** The kind of work that took the most steps. */
  readonly kind: WorkKind;

  constructor(kind: WorkKind, budget: number) {
    super(`More than ${budget} steps, most of them for ${kind}.`);
    this.kind = kind;
  }
}

/**
 * Counts and limits nothing. For callers that can slow down only themselves, such as an application that decides in its
 * own process.
 */
export const unlimited: Pick<Work, 'charge'> = { charge: () => undefined };

/** Anything that work can be charged to: a budget, or `unlimited`. */
export type Charged = Pick<Work, 'charge'>;
