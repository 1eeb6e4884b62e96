import type { components, Scope } from '@doorward/node';
import type { Column, Row } from '../output/table.ts';
import { inputFields } from './rules/input-fields.ts';

type Inputs = components['schemas']['OperationInputs'];
export type OperationName = keyof Inputs;

/** The type as which `--set name=value` parses a value. `list` is comma-separated. `null` means null for all types. */
export type FieldKind = 'text' | 'flag' | 'list' | 'json' | 'number';

type WithDryRun<N extends OperationName> = N extends OperationName
  ? 'dryRun' extends keyof Inputs[N]
    ? N
    : never
  : never;

/** Operations that can show their impact in a dry run. */
type HasDryRun = WithDryRun<OperationName>;

/** A change. Created by `withDryRun` if its operation can show its impact first, otherwise by `withoutDryRun`. */
export interface Change<N extends OperationName = OperationName> {
  readonly operation: N;
  readonly hasImpact: boolean;
}

/** Creates a change whose operation takes `dryRun`. */
export const withDryRun = <N extends HasDryRun>(operation: N): Change<N> => ({ operation, hasImpact: true });
/** Creates a change whose operation has no `dryRun`. */
export const withoutDryRun = <N extends Exclude<OperationName, HasDryRun>>(operation: N): Change<N> => ({
  operation,
  hasImpact: false,
});

interface NounParts {
  /** The first word of the noun's commands: `roles`. */
  readonly word: string;
  /** The singular for sentences: `role`. */
  readonly singular: string;
  readonly summary: string;
  readonly list: OperationName;
  readonly get?: OperationName;
  readonly create?: Change;
  readonly update?: Change;
  readonly delete?: Change;
  /** The subcommand that deletes a row. Default: `delete`. */
  readonly deleteWord?: string;
  readonly columns: readonly Column[];
  /** Columns that are shown for a single row but not in lists. */
  readonly detailColumns?: readonly Column[];
  /** Computes members of a single row from its scope and the URL of the service. */
  readonly derived?: (scope: Scope, url: string) => Row;
  /** Related rows that lists include, if the caller may read them. */
  readonly relations?: readonly string[];
  /** How the command line can name a row besides its id: by a member of the row, or by a value computed from it. */
  readonly namedBy?: string | ((row: Row) => unknown);
  /** The input member that takes the id. Default: `id`. */
  readonly idMember?: 'id' | 'userId';
  readonly idOf?: (row: Row) => string;
  /** Set if each row is a scope itself. A row is then read and changed in its own scope. */
  readonly ownScope?: 'organization';
  /** Deleting a row must be confirmed by typing its slug. */
  readonly isLarge?: boolean;
  /**
   * An input member with the secret of another service. Command lines are logged, so it isn't a field: a prompt
   * called `label` asks for it.
   */
  readonly asks?: { readonly member: string; readonly label: string };
  /** The member of a result that contains a secret. It is shown only once. */
  readonly secret?: string;
}

export interface Noun extends NounParts {
  /** The fields that `create` or `update` accepts, except the secret in `asks`. */
  readonly fields: Readonly<Record<string, FieldKind>>;
}

/** Adds the fields that the operations of a noun take. */
export function defineNoun(parts: NounParts): Noun {
  const { create, update, asks } = parts;
  const operations = [create, update].flatMap((change) => change?.operation ?? []);
  const all = operations.flatMap((operation) => Object.entries(inputFields[operation] ?? {}));
  return { ...parts, fields: Object.fromEntries(all.filter(([name]) => name !== asks?.member)) };
}

/** Returns the input members that identify a row. */
export const targetOf = ({ idMember = 'id', ownScope }: Noun, id: string): Row => ({
  [idMember]: id,
  ...(ownScope ? { scope: { tenant: ownScope, id } } : {}),
});
