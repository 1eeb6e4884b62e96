import type { AnswerBudget } from './answer-budget.ts';
import type { Relation } from './entity.ts';

/**
 * Whether related rows may be shown: a caller who may see a row need not be allowed to see the rows that its relations
 * lead to.
 */

/** A relation that a call selects, under its name. */
export interface SelectedRelation {
  readonly name: string;
  readonly relation: Relation;
}

/** The permission that its rows are shown by. */
export const permissionOf = ({ to, permission }: Relation): string => permission ?? `${to().name}:Query`;

/** Whether a stored row is shown to the caller; null: every row is. */
export type RowFilter = ((row: Readonly<Record<string, unknown>>) => boolean) | null;

/** What the caller of one request may be shown. */
export interface RelatedAccess {
  /** @throws FORBIDDEN */
  readonly filterOf: (selected: SelectedRelation) => RowFilter;
  readonly budget: AnswerBudget;
}
