import { z } from 'zod';
import { ScopeOutput } from '../../kernel/scope.ts';
import { iso, jsonObject } from '../../values.ts';

/** The envelope of events §2, as the feed answers it. */
export const Event = z
  .object({
    id: z.string().meta({ description: 'Id of the event: evt_<uuid>, the same wherever it is seen.' }),
    type: z.string().describe('Name of its type, e.g. `role.created`.'),
    version: z.int().describe('Version of the form of its data.'),
    timestamp: iso.describe('When it happened.'),
    sequence: z
      .int()
      .meta({ description: 'Counts the events of the scope without a gap, in the order of commits.' }),
    scope: ScopeOutput.describe('Where it happened.'),
    actor: z
      .object({
        type: z
          .enum(['user', 'apiKey', 'projectApp', 'system', 'anonymous'])
          .meta({ id: 'EventActorType', description: 'What kind of caller it was.' }),
        id: z.string().nullable().describe('Id of the user, key or app; null for nobody known.'),
        userId: z.string().nullable().describe('Id of the user for whom it acted.'),
      })
      .meta({ id: 'EventActor', description: 'Who did it.' }),
    requestId: z.string().describe('The request that caused it.'),
    data: jsonObject.meta({
      description:
        'What it tells of, by the schema of its type (eventTypes); of an erased user the id alone.',
    }),
    changes: jsonObject
      .optional()
      .meta({ description: 'What changed: {field: {from, to}}; of updates only.' }),
    truncated: z
      .array(z.string())
      .optional()
      .meta({ description: 'Paths of values that were cut, since the event would have been too large.' }),
  })
  .meta({ id: 'Event', description: 'Something that happened, written in the transaction of its change.' });

export const EventPage = z
  .object({
    items: z.array(Event).describe('The events of this page, the oldest first.'),
    totalCount: z.int().nullable().meta({ description: 'Always null: a feed has no end.' }),
    hasNextPage: z.boolean().describe('Whether more events follow.'),
    nextCursor: z.string().meta({ description: 'Where to go on, also when there is nothing more for now.' }),
  })
  .meta({ id: 'EventPage', description: 'A page of Event.' });

export const EventType = z
  .object({
    name: z.string().describe('Noun and what became of it, e.g. `role.created`.'),
    description: z.string().describe('When it is emitted.'),
    optIn: z.boolean().meta({
      description: 'true: only sent to subscriptions that name it; always in the feed.',
    }),
    schema: jsonObject.meta({ description: 'JSON Schema of `data`.' }),
    example: jsonObject.meta({ description: 'An example of `data`.' }),
  })
  .meta({ id: 'EventType', description: 'A type of event.' });

export const EventTypePage = z
  .object({
    items: z.array(EventType).describe('The types of this page.'),
    totalCount: z.int().describe('How many types there are.'),
    hasNextPage: z.boolean().describe('Whether more types follow.'),
    nextCursor: z.string().nullable().describe('Send it as `cursor` for the next page; null on the last.'),
  })
  .meta({ id: 'EventTypePage', description: 'A page of EventType.' });
