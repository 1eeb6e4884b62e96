import { getTableColumns, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { iso, uuid } from './input/values.ts';
import type { ResolvedScope } from './scope.ts';

type Schema = z.ZodType;
type OptionalSchema = Schema | undefined;

/**
 * The schemas of one public field in outputs, creates and patches; each is undefined if the field does not occur there.
 */
export interface Field<
  Out extends OptionalSchema = OptionalSchema,
  Create extends OptionalSchema = OptionalSchema,
  Patch extends OptionalSchema = OptionalSchema,
> {
  readonly out: Out;
  readonly create: Create;
  readonly patch: Patch;
}

const field = <O extends OptionalSchema, C extends OptionalSchema, P extends OptionalSchema>(
  out: O,
  create: C,
  patch: P,
) => ({ out, create, patch }) as Field<O, C, P>;

/** A field that is required at create and can be changed. */
export const required = <S extends Schema>(schema: S) => field(schema, schema, schema.optional());

/**
 * A field that is optional at create, with the default `fallback`, and can be changed. A patch never sets the default.
 */
export const optional = <S extends Schema>(schema: S, fallback: z.util.NoUndefined<z.output<S>>) =>
  field(schema, schema.default(fallback), schema.optional());

/** A field that is optional at create, because the operation can derive it, and can be changed. */
export const derivable = <S extends Schema>(schema: S) => field(schema, schema.optional(), schema.optional());

/** A field that gets its default at create, and can be changed only by a patch. */
export const changeable = <S extends Schema>(schema: S) => field(schema, undefined, schema.optional());

/** A field that is required at create and never changes. */
export const fixed = <S extends Schema>(schema: S) => field(schema, schema, undefined);

/** A field that is optional at create and never changes. Pass `input` if the accepted form differs from the output. */
export const fixedOptional = <S extends Schema, I extends Schema = S>(schema: S, input?: I) =>
  field(schema, describedAs(schema, input ?? schema).optional() as z.ZodOptional<I>, undefined);

/** Copies the description and examples of an output to its input. */
function describedAs<S extends Schema>(output: Schema, input: S): S {
  const { description, examples } = output.meta() ?? {};
  return input.meta({
    ...(description !== undefined && { description }),
    ...(examples !== undefined && { examples }),
  });
}

/** A field that only the service sets. */
export const serverSet = <S extends Schema>(schema: S) => field(schema, undefined, undefined);

/** Ids of linked rows: accepted but never returned. If absent, the links stay; `[]` removes all links. */
export const inputOnly = <S extends Schema>(schema: S) =>
  field(undefined, schema.optional(), schema.optional());

/** A field that is accepted only at create, and never returned. */
export const createOnly = <S extends Schema>(schema: S) => field(undefined, schema.optional(), undefined);

/** Ids of rows to link, at most `max`. Duplicates are removed. */
export const linkIds = (max: number) =>
  z
    .array(uuid)
    .max(max)
    .transform((ids) => [...new Set(ids)]);

export type Fields = Readonly<Record<string, Field>>;

/** How a row refers to other rows. Each kind is loaded for many rows in one statement. */
export type Relation = {
  readonly to: () => AnyEntity;
  /** The input field with the complete set of links, if callers may change the set. */
  readonly input?: string;
  /** The permission to see the related rows, if it is not `Query` on their noun. */
  readonly permission?: `${string}:${string}`;
} & (
  | { readonly kind: 'one'; readonly column: string }
  | { readonly kind: 'children'; readonly column: string }
  | {
      readonly kind: 'links';
      /** A function, because some links have a separate table per level. */
      readonly table: (scope: ResolvedScope) => PgTable;
      /** Column names in the link table: this row's id, the other row's id, the other row's tenant. */
      readonly from: string;
      readonly target: string;
      readonly targetTenant: string;
    }
);

const declared = new Map<string, AnyEntity>();

/**
 * Returns a noun by name. Use it for a relation to a noun whose file imports yours, because importing that file would
 * be circular.
 *
 * @throws Error if there is no such noun when the schemas are built
 */
export function nounNamed(name: string): AnyEntity {
  const noun = declared.get(name);
  if (!noun) throw new Error(`there is no noun ${name}`);
  return noun;
}

/**
 * The inverse of a relation of kind `links`: `inverseOf('Group', 'permissions')` relates a permission to its groups.
 *
 * @throws Error if the noun or relation does not exist when the schemas are built
 */
export function inverseOf(noun: string, relation: string): Relation {
  const forward = () => {
    const links = nounNamed(noun).relations[relation];
    if (links?.kind !== 'links') throw new Error(`${noun} has no links ${relation}`);
    return links;
  };
  return {
    kind: 'links',
    to: () => {
      forward();
      return nounNamed(noun);
    },
    table: (scope) => forward().table(scope),
    from: 'toId',
    target: 'fromId',
    targetTenant: 'tenantId',
  };
}

/** The scope and time of a read, which a computed field may depend on. */
export interface ReadContext {
  readonly scope: ResolvedScope;
  readonly now: Date;
}

/** A public field without a column, which the database computes together with the row. */
type Computed = SQL | ((at: ReadContext) => SQL);

/** Fields that every row has. */
const common = {
  id: serverSet(uuid.describe('Id of the row; it never changes.')),
  createdAt: serverSet(iso.describe('When it was created.')),
  updatedAt: serverSet(iso.describe('When it was last changed.')),
  deletedAt: serverSet(iso.nullable().describe('When it was deleted; null while it exists.')),
} satisfies Fields;
type Common = typeof common;

type SchemasOf<F extends Fields, K extends keyof Field> = {
  [N in keyof F as F[N][K] extends Schema ? N : never]: F[N][K] extends Schema ? F[N][K] : never;
};

export interface Entity<F extends Fields = Fields> {
  readonly name: string;
  readonly table: PgTable;
  readonly columns: Readonly<Record<string, PgColumn>>;
  readonly fields: F;
  readonly relations: Readonly<Record<string, Relation>>;
  readonly search: readonly string[];
  /** Sortable fields; the first is the default. */
  readonly sort: readonly string[];
  readonly order: 'ASC' | 'DESC';
  /**
   * Whether every change of its rows increments the tenant's policy version, so that a total can be cached by that
   * version.
   */
  readonly isVersioned: boolean;
  /** Whether rows can be tagged and filtered by `tagIds`. */
  readonly tagged: boolean;
  /** Computed fields; a list may be searched and sorted by these too. */
  readonly computed: Readonly<Record<string, Computed>>;
  /** The rows that are visible in a scope. If absent or undefined: the rows of its node and built-in rows. */
  readonly within: ((scope: ResolvedScope) => SQL | undefined) | undefined;
  /** The output schema: the fields, and relations if they were requested. */
  readonly schema: z.ZodObject<SchemasOf<F, 'out'>>;
  readonly create: SchemasOf<F, 'create'>;
  readonly patch: SchemasOf<F, 'patch'>;
}

export type AnyEntity = Entity;

/** A row as a response contains it. */
export type RowOf<E> = E extends { schema: infer S extends Schema } ? z.output<S> : never;

type OptionalMember = 'isVersioned' | 'relations' | 'computed' | 'search' | 'sort' | 'order' | 'within';

interface Definition<F extends Fields, W extends keyof Common> extends Partial<Pick<Entity, OptionalMember>> {
  table: PgTable;
  doc: string;
  fields: F;
  /** Columns by public field, where the table uses another name. */
  columns?: Record<string, PgColumn>;
  /** Common fields that this noun lacks. */
  without?: readonly W[];
}

/**
 * Declares one noun: its table, its public fields and its relations. The schemas of responses, creates and
 * patches, and the search and sort fields of lists are derived from it. The output schema is an allow-list: no response
 * contains a column without a field. The name is the noun's type in GraphQL and OpenAPI.
 *
 * @example
 * export const Tag = entity('Tag', {
 *   table: tags,
 *   fields: { name: required(text(1, 255)), color: optional(color, 'gray') },
 *   search: ['name'], sort: ['createdAt', 'name', 'color', 'updatedAt'],
 * });
 */
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
    // A getter, because nouns refer to each other, and the other noun may not be declared yet.
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
  const noun: Entity<Omit<Common, W> & F> = {
    name,
    table: definition.table,
    columns: { ...getTableColumns(definition.table), ...definition.columns },
    fields: fields as Omit<Common, W> & F,
    relations,
    computed: definition.computed ?? {},
    search: definition.search ?? [],
    sort: definition.sort ?? ['createdAt'],
    order: definition.order ?? 'ASC',
    // True by default for nouns with built-in rows, because their rows affect permissions.
    isVersioned: definition.isVersioned ?? 'isSystem' in getTableColumns(definition.table),
    tagged: 'tags' in relations,
    within: definition.within,
    schema: z.object(shape).meta({ id: name, description: definition.doc }) as Entity<
      Omit<Common, W> & F
    >['schema'],
    create: pick('create') as SchemasOf<Omit<Common, W> & F, 'create'>,
    patch: pick('patch') as SchemasOf<Omit<Common, W> & F, 'patch'>,
  };
  if (declared.has(name)) throw new Error(`the noun ${name} is declared twice`);
  declared.set(name, noun);
  return noun;
}
