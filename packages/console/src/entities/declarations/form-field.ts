import type { ReactNode } from 'react';
import type { Api, components } from '@doorward/node/client';
import type { Target } from './entity.ts';

export type Values = Readonly<Record<string, unknown>>;

type Inputs = components['schemas']['OperationInputs'];

/**
 * Converts the values of a form to the input of an operation. The fields of a form are only known at run time, so the
 * service checks `values`. What the page adds itself, `given`, is checked by the compiler.
 */
export const formInput = <N extends keyof Inputs>(values: Values, given?: Partial<Inputs[N]>): Inputs[N] =>
  ({ ...values, ...given }) as Inputs[N];

/** A row that the user can choose. */
export interface Choice {
  readonly id: string;
  readonly name: string;
  /** Explains the row in one sentence. */
  readonly description?: string | null;
  /** Whether the row is built in. Built-in rows are collapsed below the others. */
  readonly isBuiltIn?: boolean;
}

interface Base {
  /** The input member of the operation that this field sets. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
  /** Whether the field is shown, depending on the values of the form. */
  readonly isShown?: (values: Values) => boolean;
  /** Whether a change affects neither permissions nor secrets. It is then shown before the service responds. */
  readonly isHarmless?: boolean;
  /** Validates a value before anything is sent. Returns an error message, or null if the value is valid. */
  readonly check?: (value: unknown) => string | null;
  /** Renders a preview of the values below the control. */
  readonly below?: (values: Values) => ReactNode;
  /** The value when the form opens. */
  readonly initial: unknown;
}

export type ChoiceSource = (
  api: Api,
  /** `ids` limits the rows to these; sources of other kinds of rows may ignore it. */
  input: Target & { readonly search?: string; readonly ids?: string[] },
  /** Whether the user has a permission in the scope. */
  can: (permission: string) => boolean,
) => Promise<readonly Choice[]>;

/** A field of a form. Its kind determines the control and the type of the value. */
export type FormField = Base &
  (
    | {
        readonly kind: 'text' | 'textarea' | 'password' | 'url' | 'email';
        readonly isNullable?: boolean;
        /** Whether this is a secret of another service. The browser must not fill in the user's own password. */
        readonly isForeign?: boolean;
        /** Values that the browser suggests while the user types. Other values are accepted too. */
        readonly suggestions?: readonly string[];
      }
    /** A list of texts, one per line. */
    | { readonly kind: 'lines' }
    | { readonly kind: 'number'; readonly min?: number; readonly max?: number }
    | { readonly kind: 'switch' }
    | { readonly kind: 'date' }
    | { readonly kind: 'json' }
    | { readonly kind: 'condition' }
    | { readonly kind: 'option'; readonly options: readonly Choice[] }
    /** The ids of several rows, or the id of one row. */
    | { readonly kind: 'rows'; readonly source: ChoiceSource; readonly noun: string }
    | { readonly kind: 'row'; readonly source: ChoiceSource; readonly noun: string }
  );

/** A filter of a list. Its name is both the input member of the operation and the search parameter in the URL. */
export type Filter = FormField & { readonly kind: 'text' | 'option' | 'date' };
