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
 * Where a call goes. Which tenants an operation takes is in its type, but which tenant the address names is known only
 * while the page runs, and the service checks it: so these members fit every operation.
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

/** `dryRun` is set where the entity has an impact. */
interface Removal extends Target {
  readonly id: string;
  readonly dryRun?: boolean;
}

export interface EntityTexts {
  /** Heading of the list, such as `Roles`. */
  readonly title: string;
  /** What such a row is, in one or two sentences. */
  readonly about: string;
  /** The button that makes one, such as `New role`. */
  readonly create: string;
  /** Shown in place of an empty list. */
  readonly empty: string;
  /** What deletion means, said before it. */
  readonly removal: string;
}

/** Who gains and loses which permissions by a change, as the service answers a dry run. */
export type Impact = components['schemas']['Impact'];

/** An act on several rows: one call for each. */
export interface BulkAct<R extends Row> {
  readonly key: string;
  readonly label: string;
  readonly about: string;
  /** The permission without which it is not offered. */
  readonly needs: string;
  readonly isDangerous?: boolean;
  /** Whether it is possible for a row; others are left out, and named. */
  readonly fits?: (row: R) => boolean;
  readonly call: (api: Api, input: Target & { readonly id: string }) => Promise<unknown>;
  /** The same call as a dry run: who gains and loses what by this row alone. */
  readonly preview?: (api: Api, input: Target & { readonly id: string }) => Promise<Impact>;
}

/** A kind of row that a page lists, shows, creates, changes and deletes; everything that differs between kinds. */
export interface Entity<R extends Row, T extends EntityTexts = EntityTexts> {
  /** Its name in permissions, such as `Role`: the first part of `Role:Query`. */
  readonly noun: string;
  readonly texts: Texts<T>;
  readonly name: (row: R) => string;
  readonly columns: (t: T, c: Common) => readonly Column<R>[];
  readonly hasSearch?: boolean;
  readonly list: (api: Api, input: ListInput, signal: AbortSignal) => Promise<PageOf<R>>;
  readonly read: (api: Api, input: Target & { readonly id: string }, signal: AbortSignal) => Promise<R>;
  /** Built in rows are shown, and not changed. */
  readonly isSystem?: (row: R) => boolean;
  /** Rows that cannot be changed here, for another reason. */
  readonly isFixed?: (row: R) => boolean;
  /** There are so many built in rows that the list shows them only when asked. */
  readonly hidesBuiltIn?: boolean;
  /** The controls of the form; `row` is null for a new one. */
  readonly fields?: (t: T, row: R | null, c: Common) => readonly FormField[];
  readonly create?: (api: Api, input: Target & Values) => Promise<Row>;
  readonly update?: (api: Api, input: Target & Values & { readonly id: string }) => Promise<unknown>;
  readonly remove?: (api: Api, input: Removal) => Promise<unknown>;
  /** Whether create, update and remove take `dryRun: true`: the form then shows the impact before it saves. */
  readonly hasImpact?: boolean;
  /** Shown once after a create: a secret that the answer holds. */
  readonly secretOf?: (answer: Row) => string | null;
  /** What people call it, such as `Your API key`; without it a secret. */
  readonly secretTitle?: (t: T) => string;
  /** Where a row leads when it is a scope of its own: to its overview, and not to a panel. */
  readonly link?: (row: R) => Scope;
  /** Filters of the list, which stand in the address and go to `list` with its input. */
  readonly filters?: (t: T, c: Common) => readonly Filter[];
  /** What can be done with the list as it is shown, below it. */
  readonly footer?: (rows: readonly R[], filters: Readonly<Record<string, string>>) => ReactNode;
  /** In place of the form of `create`, where that is more than one call. */
  readonly createForm?: (onClose: () => void) => ReactNode;
  /** More about a row, below its fields. */
  readonly details?: (row: R) => ReactNode;
  /** What can be done with several rows at once, beside deletion. */
  readonly bulk?: (t: T) => readonly BulkAct<R>[];
  /** More actions on a row. */
  readonly actions?: (row: R) => ReactNode;
  /** Actions on the whole, beside the button that makes a row. */
  readonly tools?: () => ReactNode;
}
