import { z } from 'zod';
import { fail } from '../../errors.ts';
import { query } from '../../kernel/operation.ts';
import { jsonSchemaOptions } from '../../values.ts';
import { eventCatalogue, type EventType } from '../event-types/catalogue.ts';
import { EventPage, EventTypePage } from './event.ts';
import { feedInput, readFeed } from './feed.ts';

/** Rendered at the first question, once: a schema with its definitions, which depends on nothing else. */
let rendered: readonly z.output<typeof EventTypePage>['items'][number][] | undefined;

const shown = ({ name, description, optIn, schema, example }: EventType) => ({
  name,
  description,
  optIn,
  schema: z.toJSONSchema(schema, { ...jsonSchemaOptions, io: 'output' }) as Record<
    string,
    z.core.util.JSONType
  >,
  example: example as Record<string, z.core.util.JSONType>,
});

export const events = query({
  rest: 'GET /events',
  access: 'Event:Query',
  summary: 'Read what happened in a scope, oldest first, and go on from there',
  description:
    'Poll with `nextCursor`, which is always there. Each scope’s events come in the order of their `sequence`; none is left out or repeated. A cursor is good as long as what comes after it is kept (`EVENTS_RETENTION_DAYS`).',
  tenants: ['account', 'organization', 'accountProject', 'organizationProject'],
  input: feedInput,
  output: EventPage,
  codes: ['INVALID_CURSOR'],
  run: readFeed,
});

export const eventTypes = query({
  rest: 'GET /event-types',
  access: 'public',
  cors: 'any',
  summary: 'List the types of events, with the JSON Schema of their data',
  input: {
    page: z
      .int()
      .min(1)
      .max(100_000)
      .optional()
      .meta({ description: 'Number of the page, from 1; excludes cursor.' }),
    limit: z.int().min(1).max(100).default(50).describe('Most types that one page holds.'),
    cursor: z
      .string()
      .min(1)
      .max(1024)
      .optional()
      .meta({ description: 'Continues a list: `nextCursor` of its last page.' }),
  },
  output: EventTypePage,
  run: ({ input: { page, limit, cursor }, services: { cursors } }) => {
    if (page !== undefined && cursor !== undefined) {
      throw fail('VALIDATION_ERROR', { details: [{ path: 'cursor', code: 'excluded' }] });
    }
    rendered ??= [...eventCatalogue.values()].map(shown);
    const from = cursor === undefined ? ((page ?? 1) - 1) * limit : Number(cursors.open(cursor, LIST).value);
    const hasNextPage = rendered.length > from + limit;
    const nextCursor = hasNextPage ? cursors.seal({ value: String(from + limit), id: '' }, LIST) : null;
    return {
      items: rendered.slice(from, from + limit),
      totalCount: rendered.length,
      hasNextPage,
      nextCursor,
    };
  },
});

const LIST = 'eventTypes';
