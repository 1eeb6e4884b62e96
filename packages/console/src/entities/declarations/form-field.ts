import type { ReactNode } from 'react';
import type { Api, components } from '@doorward/node/client';
import type { Target } from './entity.ts';

export type Values = Readonly<Record<string, unknown>>;

type Inputs = components['schemas']['OperationInputs'];

/**
 * What a form holds, as the input of an operation. Its members have the names and kinds of the fields that the page shows,
 * which are known only while it runs: the service checks them. What the page adds itself, `given`, is checked here.
 */
export const formInput = <N extends keyof Inputs>(values: Values, given?: Partial<Inputs[N]>): Inputs[N] =>
  ({ ...values, ...given }) as Inputs[N];

/** A row that can be chosen. */
export interface Choice {
  readonly id: string;
  readonly name: string;
  /** What it is for, in a sentence. */
  readonly description?: string | null;
  /** Shown below one's own, folded. */
  readonly isBuiltIn?: boolean;
}

interface Base {
  /** The member of the input of the operation. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
  /** Whether it is there at all, by what the form holds. */
  readonly isShown?: (values: Values) => boolean;
  /** A change of it moves no rights and no secrets: it is shown at once, before the service has answered. */
  readonly isHarmless?: boolean;
  /** What is wrong with a value, said before anything is sent; null: nothing. */
  readonly check?: (value: unknown) => string | null;
  /** A preview of the values, shown below the control. */
  readonly below?: (values: Values) => ReactNode;
  /** The value that the form begins with. */
  readonly initial: unknown;
}

export type ChoiceSource = (
  api: Api,
  input: Target & { readonly search?: string },
  /** Whether the user has a permission in the scope. */
  can: (permission: string) => boolean,
) => Promise<readonly Choice[]>;

/** A control of a form, and the value that it gives. */
export type FormField = Base &
  (
    | {
        readonly kind: 'text' | 'textarea' | 'password' | 'url' | 'email';
        readonly isNullable?: boolean;
        /** A secret of another service: the browser must not offer the password of the user. */
        readonly isForeign?: boolean;
        /** Values that the browser offers while one types; others may be typed too. */
        readonly suggestions?: readonly string[];
      }
    /** A list of texts, one on each line. */
    | { readonly kind: 'lines' }
    | { readonly kind: 'number'; readonly min?: number; readonly max?: number }
    | { readonly kind: 'switch' }
    | { readonly kind: 'date' }
    | { readonly kind: 'json' }
    | { readonly kind: 'condition' }
    | { readonly kind: 'option'; readonly options: readonly Choice[] }
    /** Ids of rows, or one id. */
    | { readonly kind: 'rows'; readonly source: ChoiceSource; readonly noun: string }
    | { readonly kind: 'row'; readonly source: ChoiceSource; readonly noun: string }
  );

/** A filter of a list. Its name is that of the input of the operation, and of the part of the address. */
export type Filter = FormField & { readonly kind: 'text' | 'option' | 'date' };
