import type { Client } from '@doorward/node/client';
import type { OperationName } from './noun.ts';

type Row = Readonly<Record<string, unknown>>;

/** A page of a list. */
export interface Page {
  readonly items: readonly Row[];
  readonly nextCursor: string | null;
}

type AnyOperation = ((input: Row, options: { signal: AbortSignal }) => Promise<unknown>) & {
  readonly each?: (input: Row, options: { signal: AbortSignal }) => AsyncIterable<Row>;
};

/** An operation by its name: the declarations of nouns and `doorward api` name them. */
export const operationOf = ({ api }: Client, name: OperationName): AnyOperation => api[name] as AnyOperation;
