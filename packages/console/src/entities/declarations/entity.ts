import type { ReactNode } from 'react';
import type { Api, components } from '@doorward/node/client';
import type { PageOf } from '../../api/use-api.ts';
import type { Common } from '../../i18n/common.ts';
import type { Texts } from '../../i18n/language.ts';
import type { Scope } from '../../scopes/scope.ts';
import type { Column } from '../../ui/tables/table.tsx';
import type { Filter, FormField, Values } from './form-field.ts';

export interface Row {
  readonly id: string;
}

/**
 * The scope of a call. The type of an operation says which tenants it accepts, but the tenant in the URL is only
 * known at run time, and the service checks it. `never` therefore fits every operation.
 */
export interface Target {
  readonly scope: never;
}
export const targetOf = (scope: Scope): Target => ({ scope: scope as never });

export interface ListInput extends Target {
  readonly limit: number;
  readonly cursor?: string;
  readonly search?: string;
  readonly isSystem?: boolean;
  readonly sortField?: never;
  readonly sortOrder?: 'ASC' | 'DESC';
}

/** `dryRun` is only set if the entity has an impact. */
interface Removal extends Target {
  readonly id: string;
  readonly dryRun?: boolean;
}

export interface EntityTexts {
  /** The heading of the list, such as `Roles`. */
  readonly title: string;
  /** Explains in one or two sentences what such a row is. */
  readonly about: string;
  /** The label of the button that creates a row, such as `New role`. */
  readonly create: string;
  /** Shown instead of an empty list. */
  readonly empty: string;
  /** Explains the consequences of a deletion, before it happens. */
  readonly removal: string;
}

/** Which permissions each user gains or loses through a change: the result of a dry run. */
export type Impact = components['schemas']['Impact'];

/** An operation on several selected rows. Each row is a separate call. */
export interface BulkAct<R extends Row> {
  readonly key: string;
  readonly label: string;
  readonly about: string;
  /** The permission that is needed. Without it the operation isn't offered. */
  readonly needs: string;
  readonly isDangerous?: boolean;
  /** Whether the operation is possible for a row. The others are skipped, and the dialog names them. */
  readonly fits?: (row: R) => boolean;
  readonly call: (api: Api, input: Target & { readonly id: string }) => Promise<unknown>;
  /** The same call as a dry run. It returns the impact of this row alone. */
  readonly preview?: (api: Api, input: Target & { readonly id: string }) => Promise<Impact>;
}

/** Declares everything that is specific to a kind of row: how a page lists, shows, creates, changes and deletes it. */
export interface Entity<R extends Row, T extends EntityTexts = EntityTexts> {
  /** The name in permissions, such as `Role` in `Role:Query`. */
  readonly noun: string;
  /** The path of the list below `/api`, if it isn't derived from the noun (`api-keys` from `ApiKey`). */
  readonly path?: (scope: Scope) => string;
  readonly texts: Texts<T>;
  readonly name: (row: R) => string;
  readonly columns: (t: T, c: Common) => readonly Column<R>[];
  readonly hasSearch?: boolean;
  readonly list: (api: Api, input: ListInput, signal: AbortSignal) => Promise<PageOf<R>>;
  readonly read: (api: Api, input: Target & { readonly id: string }, signal: AbortSignal) => Promise<R>;
  /** Whether a row is built in. Built-in rows are shown, but can't be changed. */
  readonly isSystem?: (row: R) => boolean;
  /** Whether a row can't be changed here for another reason. */
  readonly isFixed?: (row: R) => boolean;
  /** Whether the list hides built-in rows until the user asks for them, because there are many. */
  readonly hidesBuiltIn?: boolean;
  /** The fields of the form. `row` is null if a new row is created. */
  readonly fields?: (t: T, row: R | null, c: Common) => readonly FormField[];
  readonly create?: (api: Api, input: Target & Values) => Promise<Row>;
  readonly update?: (api: Api, input: Target & Values & { readonly id: string }) => Promise<unknown>;
  readonly remove?: (api: Api, input: Removal) => Promise<unknown>;
  /** Whether create, update and remove accept `dryRun: true`. The form then shows the impact before it saves. */
  readonly hasImpact?: boolean;
  /** Returns the secret in the response to `create`, which is shown once. */
  readonly secretOf?: (answer: Row) => string | null;
  /** The title above the secret, such as `Your API key`. Without it, a general title is shown. */
  readonly secretTitle?: (t: T) => string;
  /** The scope that a row is. The link of such a row opens the overview of that scope instead of a panel. */
  readonly link?: (row: R) => Scope;
  /** Filters of the list. They are stored in the URL and added to the input of `list`. */
  readonly filters?: (t: T, c: Common) => readonly Filter[];
  /** Shown below the list, for actions on the rows that are visible. */
  readonly footer?: (rows: readonly R[], filters: Readonly<Record<string, string>>) => ReactNode;
  /** Replaces the form of `create` if creating a row takes more than one call. */
  readonly createForm?: (onClose: () => void) => ReactNode;
  /** More information about a row, shown below its fields. */
  readonly details?: (row: R) => ReactNode;
  /** Operations on several selected rows, besides deletion. */
  readonly bulk?: (t: T) => readonly BulkAct<R>[];
  /** More actions on a single row. */
  readonly actions?: (row: R) => ReactNode;
  /** Actions on the whole list, shown next to the button that creates a row. */
  readonly tools?: () => ReactNode;
}
