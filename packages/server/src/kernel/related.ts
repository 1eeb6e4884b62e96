/* Access to related rows: a caller who may see a row may not be allowed to see the rows of its relations. */

import type { AnswerBudget } from './output/answer-budget.ts';
import type { Relation } from './entity.ts';

/** A relation that a call selects, with its name. */
export interface SelectedRelation {
  readonly name: string;
  readonly relation: Relation;
}

/** The permission that is needed to see the rows of a relation. */
export const permissionOf = ({ to, permission }: Relation): string => permission ?? `${to().name}:Query`;

/** Whether the caller may see a given row; null if they may see every row. */
export type RowFilter = ((row: Readonly<Record<string, unknown>>) => boolean) | null;

/** Decides which related rows the caller of one request may see. */
export interface RelatedAccess {
  /** @throws FORBIDDEN */
  readonly filterOf: (selected: SelectedRelation) => RowFilter;
  readonly budget: AnswerBudget;
}
