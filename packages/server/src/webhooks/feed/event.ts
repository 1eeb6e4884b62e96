import { z } from 'zod';
import { EventActor } from '../../schema/events/event-actor.ts';
import { ScopeOutput } from '../../kernel/scope.ts';
import { iso, jsonObject } from '../../kernel/input/values.ts';

/** The envelope of an event (events §2), as the feed returns it. */
export const Event = z
  .object({
    id: z.string().meta({
      description: 'Id of the event: evt_<uuid>, the same in the feed, webhooks and notifications.',
    }),
    type: z.string().describe('Name of the event type, e.g. `role.created`.'),
    version: z.int().describe('Version of the schema of `data`.'),
    timestamp: iso.describe('When it happened.'),
    sequence: z
      .int()
      .meta({ description: 'Number of the event in its scope, without gaps, in the order of commits.' }),
    scope: ScopeOutput.describe('Where it happened.'),
    actor: EventActor,
    requestId: z.string().describe('The request that caused it.'),
    data: jsonObject.meta({
      description:
        'The subject of the event, in the schema of its type (eventTypes); for an erased user only the id.',
    }),
    changes: jsonObject
      .optional()
      .meta({ description: 'What changed: {field: {from, to}}; only in updates.' }),
    truncated: z
      .array(z.string())
      .optional()
      .meta({ description: 'Paths of values that were shortened because the event was too large.' }),
  })
  .meta({ id: 'Event', description: 'Something that happened, written in the transaction of its change.' });

export const EventPage = z
  .object({
    items: z.array(Event).describe('The events of this page, the oldest first.'),
    totalCount: z.int().nullable().meta({ description: 'Always null: a feed has no end.' }),
    hasNextPage: z.boolean().describe('Whether more events follow.'),
    nextCursor: z.string().meta({
      description: 'Send it as `after` for the next page; present even if no more events exist yet.',
    }),
  })
  .meta({ id: 'EventPage', description: 'A page of Event.' });

const EventType = z
  .object({
    name: z.string().describe('Noun and what happened to it, e.g. `role.created`.'),
    description: z.string().describe('When it is emitted.'),
    optIn: z.boolean().meta({
      description: 'true: webhooks get it only if their subscription names it; the feed always has it.',
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
