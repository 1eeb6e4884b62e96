import { z } from 'zod';

/** The caller of an operation, as other users see it: without a name. */
export const EventActor = z
  .object({
    type: z
      .enum(['user', 'apiKey', 'projectApp', 'system', 'anonymous'])
      .meta({ id: 'EventActorType', description: 'What kind of caller it was.' }),
    id: z.string().nullable().describe('Id of the user, key or app; null if the caller is unknown.'),
    userId: z.string().nullable().describe('Id of the user for whom the caller acted.'),
    impersonatorId: z
      .string()
      .nullish()
      .describe('Id of the operator who acted for the user; absent if the user acted.'),
  })
  .meta({ id: 'EventActor', description: 'The caller who caused it.' });
