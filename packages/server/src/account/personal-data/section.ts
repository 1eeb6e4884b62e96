import { z } from 'zod';
import type { Services } from '../../services.ts';
import { projector } from '../../kernel/output/projector.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/** The user whose data is exported, and the transaction whose snapshot all sections read. */
export interface Exporting {
  readonly tx: Executor;
  readonly services: Services;
  readonly userId: string;
  readonly sessionId: string;
}

/** One member of an export: its schema, which is an allow-list as in responses, and its JSON in chunks. */
export interface Section<S extends z.ZodType = z.ZodType> {
  readonly schema: S;
  readonly json: (exporting: Exporting) => AsyncIterable<string>;
}

/** Creates a section with a single value. */
export function single<S extends z.ZodType>(
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

/** Creates a section with a list that is read in batches, so that the rows of a long list are never all in memory. */
export function batchedList<S extends z.ZodType>(
  item: S,
  read: (exporting: Exporting) => AsyncIterable<readonly unknown[]>,
): Section<z.ZodArray<S>> {
  const project = projector(item);
  return {
    schema: z.array(item),
    async *json(exporting) {
      let open = '[';
      for await (const batch of read(exporting)) {
        if (batch.length === 0) continue;
        yield open + batch.map((row) => JSON.stringify(project(row))).join(',');
        open = ',';
      }
      yield open === '[' ? '[]' : ']';
    },
  };
}

/** Creates a section with a list that is short for every user. */
export const list = <S extends z.ZodType>(
  item: S,
  read: (exporting: Exporting) => PromiseLike<readonly unknown[]>,
): Section<z.ZodArray<S>> =>
  batchedList(item, async function* (exporting) {
    yield await read(exporting);
  });
