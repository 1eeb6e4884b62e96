import { z } from 'zod';
import { OperatorAct, OperatorSource } from '../../schema/operators/operator.ts';
import { uuid } from '../../kernel/input/values.ts';

const operator = z.object({ id: uuid, roleId: uuid, source: OperatorSource, reason: z.string().nullable() });

/**
 * Events of the installation, by name, each with the schema of its data. They are in its audit log and cause
 * notifications. No tenant can read or subscribe to them, so they are not in the catalogue.
 */
export const installationTypes: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ['operator.added', operator],
  ['operator.removed', operator],
  [
    'operator.acted',
    z.object({
      id: uuid,
      targetType: z.enum(['User', 'Organization']),
      act: OperatorAct,
      reason: z.string(),
    }),
  ],
]);
