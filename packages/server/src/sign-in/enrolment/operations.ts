import { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { pagePath } from '../admission/answer-app.ts';
import { mutation } from '../../declare.ts';
import { redirect, Refusal } from '../../kernel/output/reply.ts';
import { browserOperation, flowToken, redirectOnError, redirects } from '../steps/browser-operation.ts';
import { confirmCodes, enrolFactor } from './enrol.ts';

/*
 * A second factor added during a sign-in to an app that requires one (openid §3). The page is in `src/pages/sign-in`.
 */

const formToken = flowToken.optional().describe('The token of the page; checked if sent.');

const onPage = {
  ...browserOperation,
  ...redirects,
  whileImpersonating: 'refused',
  takesForm: {
    answer: () => redirect(pagePath('enrolment')),
    refusal: redirectOnError('enrolment', 'VALIDATION_ERROR'),
  },
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED'],
  limit: {
    class: 'auth',
    key: (_input: unknown, { flowCookie, network }: { flowCookie: string | null; network: string }) =>
      `enrolment ${hashOneTimeToken(flowCookie ?? '')} ${network}`,
  },
} as const;

export const addProjectSecondFactor = mutation({
  ...onPage,
  rest: 'POST /auth/project/enrolment',
  summary: 'Add an authenticator app in a sign-in to a project app that asks for a second factor',
  description:
    'Needs the flow cookie of a sign-in with `acr_values=aal2` of a user without a second factor. The page shows the secret; its first correct code adds the app to the user.',
  input: {
    form_token: formToken,
    code: z
      .string()
      .max(64)
      .optional()
      .meta({
        description: 'The six digits that the authenticator app shows now.',
        examples: ['123456'],
      }),
  },
  run: async (ctx) => {
    const next = await enrolFactor(ctx, ctx.input);
    return next instanceof Refusal ? next : redirect(next);
  },
});

export const confirmProjectRecoveryCodes = mutation({
  ...onPage,
  rest: 'POST /auth/project/enrolment/confirm',
  summary: 'Confirm in a sign-in to a project app that the recovery codes are kept',
  description:
    'Needs the flow cookie. The sign-in continues with the choice of an organization or the consent.',
  input: {
    form_token: formToken,
    kept: z
      .string()
      .max(8)
      .optional()
      .meta({
        description: '`yes`: the user has kept the recovery codes.',
        examples: ['yes'],
      }),
  },
  run: async (ctx) => {
    const next = await confirmCodes(ctx, ctx.input);
    return next instanceof Refusal ? next : redirect(next);
  },
});
