import { z } from 'zod';
import { ScopeOutput } from '../../kernel/scope.ts';
import { iso, jsonObject } from '../../values.ts';

/** The envelope of events §2, as the feed answers it. */
export const Event = z
  .object({
    id: z.string().meta({ description: 'evt_<uuid>; the same wherever the event is seen.' }),
    type: z.string(),
    version: z.int(),
    timestamp: iso,
    sequence: z
      .int()
      .meta({ description: 'Gapless within the scope of the event, in the order of commits.' }),
    scope: ScopeOutput,
    actor: z
      .object({
        type: z.enum(['user', 'apiKey', 'projectApp', 'system', 'anonymous']).meta({ id: 'EventActorType' }),
        id: z.string().nullable(),
        userId: z.string().nullable(),
      })
      .meta({ id: 'EventActor', description: 'Who did it.' }),
    requestId: z.string(),
    data: jsonObject.meta({
      description: 'By the schema of its type (eventTypes); of an erased user the id alone.',
    }),
    changes: jsonObject.optional().meta({ description: '{field: {from, to}}; of updates only.' }),
    truncated: z
      .array(z.string())
      .optional()
      .meta({ description: 'Paths of values that were cut, since the event would have been too large.' }),
  })
  .meta({ id: 'Event', description: 'Something that happened, written in the transaction of its change.' });

export const EventPage = z
  .object({
    items: z.array(Event),
    totalCount: z.int().nullable().meta({ description: 'Always null: a feed has no end.' }),
    hasNextPage: z.boolean(),
    nextCursor: z.string().meta({ description: 'Where to go on, also when there is nothing more for now.' }),
  })
  .meta({ id: 'EventPage', description: 'A page of Event.' });

export const EventType = z
  .object({
    name: z.string(),
    description: z.string(),
    optIn: z.boolean().meta({
      description: 'Only sent to subscriptions that name it; always in the feed.',
    }),
    schema: jsonObject.meta({ description: 'JSON Schema of `data`.' }),
    example: jsonObject.meta({ description: 'An example of `data`.' }),
  })
  .meta({ id: 'EventType', description: 'A type of event.' });

export const EventTypePage = z
  .object({
    items: z.array(EventType),
    totalCount: z.int(),
    hasNextPage: z.boolean(),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'EventTypePage', description: 'A page of EventType.' });
