import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { eventCatalogue, isEventFilter, eventFilters } from '../event-types/catalogue.ts';
import { webhookSubscriptions } from '../../schema/webhooks/webhook-subscription.ts';

/** The event types of a subscription: names of the catalogue, `noun.*`, or `*`, without duplicates. */
export const EventTypes = z
  .array(
    z
      .string()
      .max(100)
      .refine((name) => name === '*' || isEventFilter(name), {
        params: { code: 'enum', allowed: ['*', ...eventFilters] },
      }),
  )
  .min(1)
  .max(eventCatalogue.size)
  .transform((names) => [...new Set(names)])
  .meta({
    description:
      'Types to send: names, all types of a noun (`role.*`), or `*`. An opt-in type is sent only if it is named in full.',
    examples: [['role.*']],
  });

/** An event type by its full name. */
export const EventTypeName = z
  .string()
  .max(100)
  .refine((name) => eventCatalogue.has(name), {
    params: { code: 'enum', allowed: [...eventCatalogue.keys()] },
  })
  .describe('Name of an event type, e.g. `role.created`.');

/** SQL condition: the subscription includes events of this type. */
export function subscribesTo(type: string): SQL {
  const noun = `${type.split('.')[0] ?? ''}.*`;
  const names = eventCatalogue.get(type)?.optIn ? [type] : [type, noun, '*'];
  return sql`${webhookSubscriptions.eventTypes} && array[${sql.join(
    names.map((name) => sql`${name}`),
    sql`, `,
  )}]::text[]`;
}
