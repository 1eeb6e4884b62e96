import { isScalar, type Scalar } from './conditions-parse.ts';
import { isInexact } from './inexact.ts';
import { unlimited, type Charged } from './work.ts';

/** A list, prepared for comparisons. */
export interface List {
  /** Whether JSON parsing may have rounded any item. */
  readonly isInexact: boolean;
  readonly hasOnlyScalars: boolean;
  /** 'unknown' if no item is equal, and at least one item cannot be compared with the value. */
  includes(value: Scalar): 'true' | 'false' | 'unknown';
}

/** Lists up to this length are scanned for every comparison, because building a set would cost more than it saves. */
const SHORT = 16;

/**
 * Prepares the lists among the attributes of one decision. A thousand conditions may compare the same list of ten
 * thousand items, so each long list is prepared once and reused. Use a new instance for each decision: the caller may
 * change its lists afterwards.
 */
export class Lists {
  readonly work: Charged;
  /** The list of the previous call, because consecutive comparisons mostly read the same list. */
  #last: readonly unknown[] | undefined;
  #lastExamined: List | undefined;
  #examined: Map<readonly unknown[], List> | undefined;

  constructor(work: Charged = unlimited) {
    this.work = work;
  }

  of(items: readonly unknown[]): List {
    if (items === this.#last) return this.#lastExamined as List;
    const list = items.length <= SHORT ? new ShortList(items) : this.#examine(items);
    this.#last = items;
    this.#lastExamined = list;
    return list;
  }

  #examine(items: readonly unknown[]): List {
    const existing = this.#examined?.get(items);
    if (existing) return existing;
    this.work.charge('items', items.length);
    const list = new LongList(items);
    (this.#examined ??= new Map<readonly unknown[], List>()).set(items, list);
    return list;
  }
}

/** Prepares a list that is part of a condition. */
export const listOf = (items: readonly unknown[]): List =>
  items.length <= SHORT ? new ShortList(items) : new LongList(items);

/** Scans its items for every comparison. */
export class ShortList implements List {
  readonly #items: readonly unknown[];

  constructor(items: readonly unknown[]) {
    this.#items = items;
  }

  get isInexact(): boolean {
    return this.#items.some(isInexact);
  }

  get hasOnlyScalars(): boolean {
    return this.#items.every(isScalar);
  }

  includes(value: Scalar): 'true' | 'false' | 'unknown' {
    let isComparable = true;
    for (const item of this.#items) {
      if (item === value && isScalar(item)) return 'true';
      isComparable &&= areComparable(item, value);
    }
    return isComparable ? 'false' : 'unknown';
  }
}

/** Puts its items into a set once. */
class LongList implements List {
  readonly isInexact: boolean;
  readonly hasOnlyScalars: boolean;
  readonly #values: ReadonlySet<unknown>;
  /** The types of all items except null. */
  readonly #types = new Set<string>();

  constructor(items: readonly unknown[]) {
    this.isInexact = items.some(isInexact);
    this.hasOnlyScalars = items.every(isScalar);
    this.#values = new Set(this.hasOnlyScalars ? items : items.filter(isScalar));
    for (const value of this.#values) if (value !== null) this.#types.add(typeof value);
  }

  includes(value: Scalar): 'true' | 'false' | 'unknown' {
    if (this.#values.has(value)) return 'true';
    if (!this.hasOnlyScalars) return 'unknown';
    if (value === null) return 'false';
    return this.#types.size > (this.#types.has(typeof value) ? 1 : 0) ? 'unknown' : 'false';
  }
}

/** Whether two values can be compared: scalars of the same type can, and null can be compared with every scalar. */
export const areComparable = (a: unknown, b: Scalar): boolean =>
  isScalar(a) && (a === null || b === null || typeof a === typeof b);
