import { z } from 'zod';

/*
 * The members of AuthZEN requests (OpenID AuthZEN Authorization API 1.0 §5). Unknown members are ignored, so that
 * clients of other services and of later versions are understood (authzen §5).
 */

/** A JSON object. Its members are not copied, because the attributes of one request may serve a hundred questions. */
const attributes = z
  .unknown()
  .check((payload) => {
    const { value } = payload;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      payload.issues.push({ code: 'invalid_type', expected: 'object', input: value });
  })
  .meta({ type: 'object', additionalProperties: true }) as z.ZodType<
  Record<string, unknown>,
  Record<string, unknown>
>;

const type = z.string().meta({ description: 'The kind of entity.', examples: ['user'] });
const ignored = attributes
  .optional()
  .describe('Ignored: attributes of users are those that the service has stored.');

export const Subject = z
  .object({
    type: type.describe('`user`, or `apiKey` for the key of this token.'),
    id: z.string().meta({
      description:
        'Id of the user, a verified address, or the `externalId` in the metadata that the scope keeps about the user.',
      examples: ['alice@example.com'],
    }),
    properties: ignored,
  })
  .meta({ id: 'AuthzenSubjectInput', description: 'Who wants to do something.' });

export const SubjectType = z
  .object({ type: type.describe('`user`; other types have no results.') })
  .meta({ id: 'AuthzenSubjectTypeInput', description: 'The kind of subjects to search for.' });

export const Action = z
  .object({
    name: z.string().meta({ description: 'The action of the permission.', examples: ['read'] }),
    properties: attributes.optional().describe('Conditions read them as `resource._action`.'),
  })
  .meta({ id: 'AuthzenActionInput', description: 'What the subject wants to do.' });

export const Resource = z
  .object({
    type: z.string().meta({ description: 'Slug of the resource of the permission.', examples: ['invoice'] }),
    id: z.string().meta({ description: 'Conditions read it as `resource.id`.', examples: ['42'] }),
    properties: attributes.optional().meta({
      description: 'Conditions read them as `resource`.',
      examples: [{ amount: 120 }],
    }),
  })
  .meta({ id: 'AuthzenResourceInput', description: 'On which object.' });

export const RequestContext = attributes
  .optional()
  .describe('Attributes of the environment; conditions read them as `resource._context`.');

/** The members of one question. */
export const evaluation = { subject: Subject, action: Action, resource: Resource, context: RequestContext };
export const Evaluation = z.object(evaluation);
export type Evaluation = z.output<typeof Evaluation>;

/** Where a search continues, and the maximum number of results in one answer. */
export const Page = z
  .object({
    token: z
      .string()
      .max(1024)
      .optional()
      .describe('Continues the search: `next_token` of the previous answer.'),
    limit: z
      .int()
      .min(1)
      .optional()
      .describe('The maximum number of results; at most 100, and 50 by default.'),
  })
  .meta({ id: 'AuthzenPageInput', description: 'Which part of the results.' });

const semantics = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const;

export type Semantic = (typeof semantics)[number];

export const Options = z
  .object({
    evaluations_semantic: z
      .enum(semantics)
      .default('execute_all')
      .describe('Whether the answer ends with the first refusal, or with the first permit.'),
  })
  .meta({
    id: 'AuthzenOptionsInput',
    description: 'How the questions are answered; other members are ignored.',
  });
