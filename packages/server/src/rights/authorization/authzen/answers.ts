import { z } from 'zod';
import type { Decision } from '@doorward/decision/evaluate';
import { catalogue, type DoorwardError } from '../../../errors.ts';
import { DecisionReason } from '../decision.ts';

/* Outputs of the AuthZEN endpoints, which are sent without an envelope. */

const AuthzenDecision = z
  .object({
    decision: z.boolean().describe('Whether the subject may do it.'),
    context: z
      .object({
        reason: DecisionReason.optional().describe('Why the subject may or may not do it.'),
        permission: z
          .string()
          .optional()
          .describe('The permission that decided, as `resource:action`, if one matched.'),
        error: z
          .object({
            status: z.int().describe('The status that the question alone would have had.'),
            code: z.enum(['VALIDATION_ERROR', 'FORBIDDEN']).describe('The error code.'),
            message: z.string().describe('What is wrong with the question.'),
          })
          .optional()
          .describe('Why a question of several was not decided.'),
      })
      .describe('The reason, without conditions and attributes.'),
  })
  .meta({ id: 'AuthzenDecision', description: 'An answer of AuthZEN to one question.' });

export { AuthzenDecision };

export const AuthzenDecisions = z
  .object({
    evaluations: z.array(AuthzenDecision).describe('The answers, in the order of the questions.'),
  })
  .meta({ id: 'AuthzenDecisions', description: 'Answers of AuthZEN to several questions.' });

const page = z
  .object({
    next_token: z.string().describe('Send it as `page.token` to go on; empty at the end.'),
    count: z.int().describe('How many results this answer has.'),
  })
  .meta({ id: 'AuthzenPage', description: 'How the results go on.' });

export const SubjectResults = z
  .object({
    results: z
      .array(
        z.object({
          type: z.literal('user').describe('The kind of subject.'),
          id: z
            .string()
            .describe('The `externalId` of the user, if it is theirs alone, else the id of the user.'),
        }),
      )
      .describe('The subjects who may do it.'),
    page,
  })
  .meta({ id: 'AuthzenSubjects', description: 'Subjects who may do something now.' });

export const ActionResults = z
  .object({
    results: z
      .array(z.object({ name: z.string().describe('Name of the action.') }))
      .describe('The actions that the subject may do.'),
    page,
  })
  .meta({ id: 'AuthzenActions', description: 'What a subject may do with an object now.' });

export type AuthzenDecision = z.output<typeof AuthzenDecision>;

/** A decision in the form of AuthZEN, without the condition and the values that it compared. */
export function decisionOf({ authorized, reason, matchedPermission }: Decision): AuthzenDecision {
  const permission = matchedPermission && `${matchedPermission.resource}:${matchedPermission.action}`;
  return { decision: authorized, context: { reason, ...(permission !== undefined && { permission }) } };
}

/** A refusal for this reason. */
export const refusalFor = (reason: DecisionReason): AuthzenDecision => ({
  decision: false,
  context: { reason },
});
type DecisionReason = z.output<typeof DecisionReason>;

/** The answer to a question that cannot be decided, in a request with several questions. */
export const errorOf = ({ code, status }: DoorwardError): AuthzenDecision => ({
  decision: false,
  context: { error: { status, code: code as 'VALIDATION_ERROR', message: catalogue[code].message } },
});
