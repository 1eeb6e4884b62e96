import type { AnswerBudget } from './output/answer-budget.ts';
import type { Relation } from './entity.ts';

/**
 * Access to related rows: a caller who may see a row may not be allowed to see the rows of its relations.
 */

/** A relation that a call selects, under its name. */
export interface SelectedRelation {
  readonly name: string;
  readonly relation: Relation;
}

/** The permission that shows the rows of a relation. */
export const permissionOf = ({ to, permission }: Relation): string => permission ?? `${to().name}:Query`;

/** Whether the caller may see a stored row; null: they may see every row. */
export type RowFilter = ((row: Readonly<Record<string, unknown>>) => boolean) | null;

/** The related rows that the caller of one request may see. */
export interface RelatedAccess {
  /** @throws FORBIDDEN */
  readonly filterOf: (selected: SelectedRelation) => RowFilter;
  readonly budget: AnswerBudget;
}
