import { z } from 'zod';
import type { AnyEntity, Entity, Fields } from './entity.ts';
import { uuid } from '../values.ts';

/** Input and output pieces that many operations share (conventions §7). */

/** `a,b` in a query, a list in GraphQL; each id once. */
export const idList = z.array(uuid).max(100);

const SortOrder = z
  .enum(['ASC', 'DESC'])
  .meta({ id: 'SortOrder', description: 'Smallest or earliest first, or last.' });

/** `search`, `tagIds` and `relations` are there only for nouns that have them; reading an absent one gives undefined. */
interface PagingShape extends z.ZodRawShape {
  page: z.ZodOptional<z.ZodInt>;
  limit: z.ZodDefault<z.ZodInt>;
  cursor: z.ZodOptional<z.ZodString>;
  sortField: z.ZodOptional<z.ZodEnum<Record<string, string>>>;
  sortOrder: z.ZodOptional<typeof SortOrder>;
  ids: z.ZodOptional<typeof idList>;
  search: z.ZodOptional<z.ZodString>;
  tagIds: z.ZodOptional<typeof idList>;
  relations: z.ZodOptional<z.ZodArray<z.ZodString>>;
}

const nouns = new WeakMap<object, AnyEntity>();

/** The entity whose relations the input of an operation may name. */
export const nounOfRelations = (input: z.ZodRawShape): AnyEntity | undefined =>
  input['relations'] && nouns.get(input['relations']);

/** Names of related rows to load with each item; REST only, GraphQL selects nested fields. */
export function relationsOf(entity: AnyEntity): { relations: z.ZodOptional<z.ZodArray<z.ZodString>> } {
  const names = Object.keys(entity.relations);
  const relations = z
    .array(z.enum(names))
    .max(names.length)
    .optional()
    .meta({ restOnly: true, description: `Related rows to load: ${names.join(', ')}.` });
  nouns.set(relations, entity);
  return (names.length === 0 ? {} : { relations }) as unknown as ReturnType<typeof relationsOf>;
}

/** List parameters of a noun. A noun without search fields has no `search`. */
export function paging(entity: AnyEntity): PagingShape {
  const [first = 'createdAt', ...others] = entity.sort;
  const sortField = z
    .enum([first, ...others])
    .meta({ id: `${entity.name}SortField`, description: `What the list is sorted by. Default: ${first}.` });
  return {
    page: z
      .int()
      .min(1)
      .max(100_000)
      .optional()
      .meta({ description: 'Number of the page, from 1; excludes cursor.' }),
    limit: z.int().min(1).max(100).default(50).meta({ description: 'Most rows that one page holds.' }),
    cursor: z
      .string()
      .min(1)
      .max(1024)
      .optional()
      .meta({ description: 'Continues a list: `nextCursor` of its last page.' }),
    ...(entity.search.length > 0
      ? {
          search: z
            .string()
            .trim()
            .min(2)
            .max(255)
            .optional()
            .meta({ description: `Only rows with this text, in any case, in: ${entity.search.join(', ')}.` }),
        }
      : {}),
    sortField: sortField.optional(),
    sortOrder: SortOrder.optional(),
    ids: idList.optional().describe('Only rows with one of these ids, 100 at most.'),
    ...(entity.tagged
      ? { tagIds: idList.optional().describe('Only rows that carry one of these tags, 100 at most.') }
      : {}),
    ...relationsOf(entity),
  } as unknown as PagingShape;
}

const pages = new Map<string, z.ZodType>();

/** `{items, totalCount, hasNextPage, nextCursor}` of a noun. */
export function pageOf<F extends Fields>(entity: Entity<F>) {
  const page = z
    .object({
      items: z.array(entity.schema).describe('The rows of this page.'),
      totalCount: z.int().describe('How many rows all pages hold together.'),
      hasNextPage: z.boolean().describe('Whether more rows follow.'),
      nextCursor: z.string().nullable().describe('Send it as `cursor` for the next page; null on the last.'),
    })
    .meta({ id: `${entity.name}Page`, description: `A page of ${entity.name}.` });
  // One schema per name: the documents refer to it by name.
  const known = pages.get(entity.name) ?? page;
  pages.set(entity.name, known);
  return known as typeof page;
}
