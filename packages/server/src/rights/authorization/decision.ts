import { z } from 'zod';
import { decisionReasons } from '@doorward/decision/reasons';
import { uuid } from '../../kernel/input/values.ts';
import { Explanation } from './explanation.ts';

export const DecisionReason = z
  .enum(decisionReasons)
  .meta({ id: 'DecisionReason', description: 'Why a decision was taken.' });

export const MatchedPermission = z
  .object({
    id: uuid.describe('Id of the permission.'),
    name: z.string().describe('Display name of the permission.'),
    resource: z.string().describe('Slug of the resource.'),
    action: z.string().describe('The action on the resource.'),
  })
  .meta({ id: 'MatchedPermission', description: 'The permission that allows it.' });

export const Decision = z
  .object({
    authorized: z.boolean().describe('Whether the subject may do it.'),
    reason: DecisionReason.describe('Why the subject may or may not do it.'),
    matchedPermission: MatchedPermission.optional().describe(
      'The permission that decided, if one allows it.',
    ),
    matchedCondition: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('The condition of that permission; null if it has none.'),
    evaluatedContext: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('The values that the condition compared.'),
    explanation: Explanation.optional().describe('How the decision came about, if asked for.'),
  })
  .meta({ id: 'Decision', description: 'Whether the subject may do it, and why.' });
