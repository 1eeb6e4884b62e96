import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { eventCatalogue, isTypeOrNoun, typesAndNouns } from '../event-types/catalogue.ts';
import { webhookSubscriptions } from './subscription.ts';

/** What a subscription asks for: names of the catalogue, `noun.*`, or `*`; each once. */
export const EventTypes = z
  .array(
    z
      .string()
      .max(100)
      .refine((name) => name === '*' || isTypeOrNoun(name), {
        params: { code: 'enum', allowed: ['*', ...typesAndNouns] },
      }),
  )
  .min(1)
  .max(eventCatalogue.size)
  .transform((names) => [...new Set(names)])
  .meta({
    description:
      'Types to send: names, all of a noun (`role.*`), or `*`. What is opt-in is sent to those that name it in full.',
    examples: [['role.*']],
  });

/** A type by its full name. */
export const EventTypeName = z
  .string()
  .max(100)
  .refine((name) => eventCatalogue.has(name), {
    params: { code: 'enum', allowed: [...eventCatalogue.keys()] },
  })
  .describe('Name of an event type, e.g. `role.created`.');

/** Whether a subscription asks for events of this type. */
export function asksFor(type: string): SQL {
  const noun = `${type.split('.')[0] ?? ''}.*`;
  const wanted = eventCatalogue.get(type)?.optIn ? [type] : [type, noun, '*'];
  return sql`${webhookSubscriptions.eventTypes} && array[${sql.join(
    wanted.map((one) => sql`${one}`),
    sql`, `,
  )}]::text[]`;
}
