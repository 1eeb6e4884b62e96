import { z } from 'zod';
import { fail } from '../../errors.ts';
import { query } from '../../declare.ts';
import { jsonSchemaOptions } from '../../kernel/input/values.ts';
import { eventCatalogue, type EventType } from '../event-types/catalogue.ts';
import { EventPage, EventTypePage } from './event.ts';
import { feedInput, readFeed } from './feed.ts';

/**
 * The event types with their JSON Schemas, computed on the first request. They depend only on the catalogue, which
 * never changes at run time.
 */
let cachedItems: readonly z.output<typeof EventTypePage>['items'][number][] | undefined;

const itemOf = ({ name, description, optIn, schema, example }: EventType) => ({
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
  summary: 'Read the events of a scope, oldest first, and continue from a cursor',
  description:
    'Poll with `nextCursor`, which is always present. The events of each scope come in the order of their `sequence`, with none omitted or repeated. A cursor is valid as long as the events after it are retained (`EVENTS_RETENTION_DAYS`).',
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
  summary: 'List the event types, with the JSON Schema of their data',
  input: {
    page: z
      .int()
      .min(1)
      .max(100_000)
      .optional()
      .meta({ description: 'Number of the page, from 1; excludes cursor.' }),
    limit: z.int().min(1).max(100).default(50).describe('Maximum number of types per page.'),
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
    cachedItems ??= [...eventCatalogue.values()].map(itemOf);
    const from =
      cursor === undefined ? ((page ?? 1) - 1) * limit : Number(cursors.open(cursor, CURSOR_BINDING).value);
    const hasNextPage = cachedItems.length > from + limit;
    const nextCursor = hasNextPage
      ? cursors.seal({ value: String(from + limit), id: '' }, CURSOR_BINDING)
      : null;
    return {
      items: cachedItems.slice(from, from + limit),
      totalCount: cachedItems.length,
      hasNextPage,
      nextCursor,
    };
  },
});

const CURSOR_BINDING = 'eventTypes';
