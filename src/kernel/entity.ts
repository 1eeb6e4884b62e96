import { getTableColumns, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { iso, uuid } from '../values.ts';
import type { ResolvedScope } from './scope.ts';

/**
 * One noun, said once: its table, its public fields and its relations. From it follow the schema of an
 * answer (an allow-list: a column without a field can never leave), the input of a create, the input of a
 * patch, and what a list can be searched and sorted by.
 *
 * @example
 * export const Tag = entity('Tag', {
 *   table: tags,
 *   fields: { name: given(text(1, 255)), color: optional(color, 'gray') },
 *   search: ['name'], sort: ['createdAt', 'name', 'color', 'updatedAt'],
 * });
 */

type Schema = z.ZodType;
type Maybe = Schema | undefined;

/** How one public field behaves: what it looks like in answers, and in which inputs it may stand. */
export interface Field<Out extends Maybe = Maybe, Create extends Maybe = Maybe, Patch extends Maybe = Maybe> {
  readonly out: Out;
  readonly create: Create;
  readonly patch: Patch;
}

const field = <O extends Maybe, C extends Maybe, P extends Maybe>(out: O, create: C, patch: P) =>
  ({ out, create, patch }) as Field<O, C, P>;

/** Required at create, changeable. */
export const given = <S extends Schema>(schema: S) => field(schema, schema, schema.optional());

/** May be left out at create, where `fallback` stands in; changeable. A patch never fills the fallback in. */
export const optional = <S extends Schema>(schema: S, fallback: z.util.NoUndefined<z.output<S>>) =>
  field(schema, schema.default(fallback), schema.optional());

/** May be left out at create, where the operation derives it; changeable. */
export const derivable = <S extends Schema>(schema: S) => field(schema, schema.optional(), schema.optional());

/** Set once, at create. */
export const fixed = <S extends Schema>(schema: S) => field(schema, schema, undefined);

/** Set once, at create, where it may be left out; `input` where the accepted form differs from the answered one. */
export const fixedOptional = <S extends Schema, I extends Schema = S>(schema: S, input?: I) =>
  field(schema, toldAs(schema, input ?? schema).optional() as unknown as z.ZodOptional<I>, undefined);

/** Gives an input the description and examples of its output: both mean the same, so they are written once. */
function toldAs<S extends Schema>(output: Schema, input: S): S {
  const { description, examples } = output.meta() ?? {};
  return input.meta({
    ...(description !== undefined && { description }),
    ...(examples !== undefined && { examples }),
  });
}

/** Only ever set by the service. */
export const serverSet = <S extends Schema>(schema: S) => field(schema, undefined, undefined);

/** Accepted and never answered: ids of linked rows. Absent leaves the links alone, `[]` clears them. */
export const inputOnly = <S extends Schema>(schema: S) =>
  field(undefined, schema.optional(), schema.optional());

/** Accepted at create only and never answered. */
export const createOnly = <S extends Schema>(schema: S) => field(undefined, schema.optional(), undefined);

/** Ids of rows to link: each once, `max` at most. */
export const linkIds = (max: number) =>
  z
    .array(uuid)
    .max(max)
    .transform((ids) => [...new Set(ids)]);

export type Fields = Readonly<Record<string, Field>>;

/** The five ways a row can point at others. Every one is loaded for many rows in one statement. */
export type Relation = {
  readonly to: () => AnyEntity;
  /** The input field that replaces the linked set, if callers may. */
  readonly input?: string;
  /** The permission to see its rows, if it is not `Query` of their own noun. */
  readonly permission?: `${string}:${string}`;
} & (
  | { readonly kind: 'one'; readonly column: string }
  | { readonly kind: 'children'; readonly column: string }
  | {
      readonly kind: 'links';
      /** Lazy, because noun files may import each other; by scope, where levels keep their links apart. */
      readonly table: (scope: ResolvedScope) => PgTable;
      /** Column names in the link table: this row's id, the other row's id, the other row's tenant. */
      readonly from: string;
      readonly target: string;
      readonly targetTenant: string;
    }
);

/** Where and when a row is read: what a computed field may depend on. */
export interface Reading {
  readonly scope: ResolvedScope;
  readonly now: Date;
}

/** A public field that is no column: computed by the database with the row. */
export type Computed = SQL | ((at: Reading) => SQL);

/** Fields that every row has. */
const common = {
  id: serverSet(uuid.describe('Id of the row; it never changes.')),
  createdAt: serverSet(iso.describe('When it was created.')),
  updatedAt: serverSet(iso.describe('When it was last changed.')),
  deletedAt: serverSet(iso.nullable().describe('When it was deleted; null while it exists.')),
} satisfies Fields;
type Common = typeof common;

type Pick_<F extends Fields, K extends keyof Field> = {
  [N in keyof F as F[N][K] extends Schema ? N : never]: F[N][K] extends Schema ? F[N][K] : never;
};

export interface Entity<F extends Fields = Fields> {
  readonly name: string;
  readonly table: PgTable;
  readonly columns: Readonly<Record<string, PgColumn>>;
  readonly fields: F;
  readonly relations: Readonly<Record<string, Relation>>;
  readonly search: readonly string[];
  /** Sortable fields; the first one is the default. */
  readonly sort: readonly string[];
  readonly order: 'ASC' | 'DESC';
  /** Whether rows can be tagged, and so filtered by `tagIds`. */
  readonly tagged: boolean;
  /** What is no column; a list may be searched and sorted by these too. */
  readonly computed: Readonly<Record<string, Computed>>;
  /** Which rows a scope sees; absent: those of the scope's node and built-in ones. */
  readonly within: ((scope: ResolvedScope) => SQL) | undefined;
  /** Public form: base fields, and relations where they were asked for. */
  readonly schema: z.ZodObject<Pick_<F, 'out'>>;
  readonly create: Pick_<F, 'create'>;
  readonly patch: Pick_<F, 'patch'>;
}

export type AnyEntity = Entity;

/** A row as it is answered. */
export type RowOf<E> = E extends { schema: infer S extends Schema } ? z.output<S> : never;

type Given = 'relations' | 'computed' | 'search' | 'sort' | 'order' | 'within';

interface Definition<F extends Fields, W extends keyof Common> extends Partial<Pick<Entity, Given>> {
  table: PgTable;
  doc: string;
  fields: F;
  /** Columns under the names of public fields, where the table names them otherwise. */
  columns?: Record<string, PgColumn>;
  /** Common fields that this noun lacks. */
  without?: readonly W[];
}

/** Declares a noun. The name is its type in GraphQL and in the OpenAPI document. */
export function entity<F extends Fields, W extends keyof Common = never>(
  name: string,
  definition: Definition<F, W>,
): Entity<Omit<Common, W> & F> {
  const base: Fields = Object.fromEntries(
    Object.entries(common).filter(([key]) => !definition.without?.includes(key as W)),
  );
  const fields: Fields = { ...base, ...definition.fields };
  const relations = definition.relations ?? {};
  const shape: Record<string, Schema> = {};
  for (const [key, field] of Object.entries<Field>(fields)) if (field.out) shape[key] = field.out;
  for (const [key, relation] of Object.entries(relations)) {
    // A getter, because nouns point at each other and the other file may not have run yet.
    Object.defineProperty(shape, key, {
      enumerable: true,
      get: () => {
        const { schema: target, name: noun } = relation.to();
        return relation.kind === 'one'
          ? target.nullable().optional().describe(`The related ${noun}; absent unless asked for.`)
          : z.array(target).optional().describe(`Related rows of ${noun}; absent unless asked for.`);
      },
    });
  }
  const pick = (part: 'create' | 'patch') =>
    Object.fromEntries(
      Object.entries<Field>(fields).flatMap(([key, field]) => (field[part] ? [[key, field[part]]] : [])),
    );
  return {
    name,
    table: definition.table,
    columns: { ...getTableColumns(definition.table), ...definition.columns },
    fields: fields as never,
    relations,
    computed: definition.computed ?? {},
    search: definition.search ?? [],
    sort: definition.sort ?? ['createdAt'],
    order: definition.order ?? 'ASC',
    tagged: 'tags' in relations,
    within: definition.within,
    schema: z.object(shape).meta({ id: name, description: definition.doc }) as never,
    create: pick('create') as never,
    patch: pick('patch') as never,
  };
}
