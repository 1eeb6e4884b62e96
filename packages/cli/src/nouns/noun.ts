import type { components, Scope } from '@doorward/node';
import type { Column, Row } from '../output/table.ts';
import { inputFields } from './rules/input-fields.ts';

type Inputs = components['schemas']['OperationInputs'];
export type OperationName = keyof Inputs;

/** How `--set name=value` reads a value. `list`: separated by commas. The value `null` is null for every kind. */
export type FieldKind = 'text' | 'flag' | 'list' | 'json' | 'number';

type WithDryRun<N extends OperationName> = N extends OperationName
  ? 'dryRun' extends keyof Inputs[N]
    ? N
    : never
  : never;

/** Operations that show their impact without a change. */
type Foreseeable = WithDryRun<OperationName>;

/** A change; those that can show their impact must say so. */
export interface Change<N extends OperationName = OperationName> {
  readonly operation: N;
  readonly hasImpact: boolean;
}

/** For operations that take `dryRun`. */
export const foreseen = <N extends Foreseeable>(operation: N): Change<N> => ({ operation, hasImpact: true });
/** For the others. */
export const plain = <N extends Exclude<OperationName, Foreseeable>>(operation: N): Change<N> => ({
  operation,
  hasImpact: false,
});

interface NounParts {
  /** The word of the command: `roles`. */
  readonly word: string;
  /** One of them, in a sentence: `role`. */
  readonly singular: string;
  readonly summary: string;
  readonly list: OperationName;
  readonly get?: OperationName;
  readonly create?: Change;
  readonly update?: Change;
  readonly delete?: Change;
  /** The subcommand that deletes one. Default `delete`. */
  readonly deleteWord?: string;
  readonly columns: readonly Column[];
  /** Columns of one row that a list leaves out. */
  readonly shown?: readonly Column[];
  /** Members of one row that follow from its scope and the address of the service. */
  readonly derived?: (scope: Scope, url: string) => Row;
  /** Related rows that a list shows, if the caller may read them. */
  readonly relations?: readonly string[];
  /** What identifies one on the command line, besides its id: a member of the row, or a value made of it. */
  readonly namedBy?: string | ((row: Row) => unknown);
  /** The member of an input that has the id. Default `id`. */
  readonly idMember?: 'id' | 'userId';
  readonly idOf?: (row: Row) => string;
  /** The noun is a scope itself: a row is read and changed in its own scope. */
  readonly ownScope?: 'organization';
  /** Deleting one is confirmed by typing its slug. */
  readonly isLarge?: boolean;
  /** A secret of another service that is sent, with its name in a question. Command lines are logged, so it is not a field. */
  readonly asks?: { readonly member: string; readonly label: string };
  /** Members of an answer that are shown once. */
  readonly secret?: string;
}

export interface Noun extends NounParts {
  /** Fields that `create` or `update` accepts, without the secret that is asked for. */
  readonly fields: Readonly<Record<string, FieldKind>>;
}

/** Completes a noun with the fields that its operations take. */
export function noun(parts: NounParts): Noun {
  const { create, update, asks } = parts;
  const operations = [create, update].flatMap((change) => change?.operation ?? []);
  const all = operations.flatMap((operation) => Object.entries(inputFields[operation] ?? {}));
  return { ...parts, fields: Object.fromEntries(all.filter(([name]) => name !== asks?.member)) };
}

/** The members of an input that say which one is meant. */
export const targetOf = ({ idMember = 'id', ownScope }: Noun, id: string): Row => ({
  [idMember]: id,
  ...(ownScope ? { scope: { tenant: ownScope, id } } : {}),
});
