/**
 * Counts the work of decisions, so that a request is bounded in total. Each limit alone is harmless, their product is not:
 * conditions × lists, tests × roles × permissions, proposals × attributes.
 *
 * A step is roughly one comparison: 50 to 200 nanoseconds. Every loop whose length a caller can choose charges its work
 * before it does it.
 *
 * @example
 * const work = new Work(4_000_000);
 * evaluate(grants, question, work); // throws WorkExceeded beyond four million steps
 */
export class Work {
  readonly budget: number;
  #spent = 0;
  readonly #byKind = new Map<WorkKind, number>();

  /** @param budget steps of all decisions that charge it */
  constructor(budget: number) {
    this.budget = budget;
  }

  /** Steps so far. */
  get spent(): number {
    return this.#spent;
  }

  /** @throws WorkExceeded once the steps exceed the budget, and from then on */
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

/** What steps are spent on. */
export type WorkKind =
  /** Of the conditions of permissions with attributes. */
  | 'comparisons'
  /** Items of lists among the attributes. */
  | 'items'
  /** From a role through a group to a permission. */
  | 'paths'
  /** Values that might meet a condition. */
  | 'proposals'
  /** Combinations of alternatives in a condition. */
  | 'cases';

/** More work than its budget allows. */
export class WorkExceeded extends Error {
  override readonly name = 'WorkExceeded';
  /** What took the most of it. */
  readonly kind: WorkKind;

  constructor(kind: WorkKind, budget: number) {
    super(`More than ${budget} steps, most of them for ${kind}.`);
    this.kind = kind;
  }
}

/** Counts nothing: for a caller who only harms themselves, such as an application that decides in its own process. */
export const unlimited: Pick<Work, 'charge'> = { charge: () => undefined };

/** Where work is charged. */
export type Charged = Pick<Work, 'charge'>;
