import { z } from 'zod';
import type { Services } from '../../kernel/context.ts';
import { projector } from '../../kernel/project.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/** Whose data is exported, and the snapshot that all sections read. */
export interface Exporting {
  readonly tx: Executor;
  readonly services: Services;
  readonly userId: string;
  readonly sessionId: string;
}

/** One member of an export: what it looks like, and its JSON in pieces. The schema is an allow-list, as in answers. */
export interface Section<S extends z.ZodType = z.ZodType> {
  readonly schema: S;
  readonly json: (exporting: Exporting) => AsyncIterable<string>;
}

/** A single value. */
export function one<S extends z.ZodType>(
  schema: S,
  read: (exporting: Exporting) => Promise<unknown>,
): Section<S> {
  const project = projector(schema);
  return {
    schema,
    async *json(exporting) {
      yield JSON.stringify(project(await read(exporting)));
    },
  };
}

/** A list that is read page by page, so that a long one never stands in memory as rows. */
export function pages<S extends z.ZodType>(
  item: S,
  read: (exporting: Exporting) => AsyncIterable<readonly unknown[]>,
): Section<z.ZodArray<S>> {
  const project = projector(item);
  return {
    schema: z.array(item),
    async *json(exporting) {
      let open = '[';
      for await (const page of read(exporting)) {
        if (page.length === 0) continue;
        yield open + page.map((row) => JSON.stringify(project(row))).join(',');
        open = ',';
      }
      yield open === '[' ? '[]' : ']';
    },
  };
}

/** A list that a user can only have little of. */
export const list = <S extends z.ZodType>(
  item: S,
  read: (exporting: Exporting) => PromiseLike<readonly unknown[]>,
): Section<z.ZodArray<S>> =>
  pages(item, async function* (exporting) {
    yield await read(exporting);
  });
