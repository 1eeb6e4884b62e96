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

/** Looks up an operation by name, because declarations of nouns and `doorward api` know only its name. */
export const operationOf = ({ api }: Client, name: OperationName): AnyOperation => api[name] as AnyOperation;
