import { z } from 'zod';
import type { AnyEntity, Entity, Fields } from '../entity.ts';
import { text, uuid } from './values.ts';

/* Input and output schemas that many operations share (conventions §7). */

/** Ids, sent as `a,b` in a query string or as a list in GraphQL. */
const idList = z.array(uuid).max(100);

const SortOrder = z
  .enum(['ASC', 'DESC'])
  .meta({ id: 'SortOrder', description: 'Ascending (smallest or earliest first) or descending.' });

/** `search`, `tagIds` and `relations` are undefined for nouns that do not have them. */
interface PagingShape extends z.ZodRawShape {
  page: z.ZodOptional<z.ZodInt>;
  limit: z.ZodDefault<z.ZodInt>;
  cursor: z.ZodOptional<z.ZodString>;
  sortField: z.ZodOptional<z.ZodEnum<Record<string, string>>>;
  sortOrder: z.ZodOptional<typeof SortOrder>;
  ids: z.ZodOptional<typeof idList>;
  search: z.ZodOptional<z.ZodString>;
  tagIds: z.ZodOptional<typeof idList>;
  relations: RelationsInput['relations'];
}

const nouns = new WeakMap<object, AnyEntity>();

/** The entity whose relations an input may name; undefined if the input has no `relations`. */
export const nounOfRelations = (input: z.ZodRawShape): AnyEntity | undefined =>
  input['relations'] && nouns.get(input['relations']);

interface RelationsInput {
  relations: z.ZodOptional<z.ZodArray<z.ZodEnum<Record<string, string>>>>;
}

/** The input `relations`: which related rows to load. For REST only; GraphQL selects nested fields. */
export function relationsOf(entity: AnyEntity): RelationsInput {
  const names = Object.keys(entity.relations);
  const relations = z
    .array(z.enum(names))
    .max(names.length)
    .optional()
    .meta({ restOnly: true, description: `Related rows to load: ${names.join(', ')}.` });
  nouns.set(relations, entity);
  const input: Partial<RelationsInput> = names.length === 0 ? {} : { relations };
  return input as RelationsInput;
}

/** The list parameters of a noun. */
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
    limit: z.int().min(1).max(100).default(50).meta({ description: 'The maximum number of rows on a page.' }),
    cursor: z
      .string()
      .min(1)
      .max(1024)
      .optional()
      .meta({ description: 'Continues a list: the `nextCursor` of the previous page.' }),
    ...(entity.search.length > 0
      ? {
          search: text(2, 255)
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
  } as PagingShape;
}

const pages = new Map<string, z.ZodType>();

/** The schema of a page: `{items, totalCount, hasNextPage, nextCursor}` of a noun. */
export function pageOf<F extends Fields>(entity: Entity<F>) {
  const page = z
    .object({
      items: z.array(entity.schema).describe('The rows of this page.'),
      totalCount: z.int().describe('The number of rows on all pages together.'),
      hasNextPage: z.boolean().describe('Whether more rows follow.'),
      nextCursor: z.string().nullable().describe('Send it as `cursor` for the next page; null on the last.'),
    })
    .meta({ id: `${entity.name}Page`, description: `A page of ${entity.name}.` });
  // One schema per name, because OpenAPI refers to schemas by name.
  const zodType = pages.get(entity.name) ?? page;
  pages.set(entity.name, zodType);
  return zodType as typeof page;
}
