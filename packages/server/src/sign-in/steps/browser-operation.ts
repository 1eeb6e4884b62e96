/* Shared declarations of the operations that browsers call in a sign-in to an app. */

import { z } from 'zod';
import type { DoorwardError } from '../../errors.ts';
import { redirect, type BareReply } from '../../kernel/output/reply.ts';
import { formPath, pagePath, type StepName } from '../admission/answer-app.ts';

export const optionalParameter = (description: string) => z.string().optional().meta({ description });

/** Read from the URL before the operation runs (`http/cookies/flow-cookies.ts`). */
export const flowParameter = z.string().max(64).optional().meta({
  description: 'The sign-in of this browser, as in the address of its page; absent: the newest one.',
});

export const browserOperation = {
  access: 'public',
  only: 'rest',
  forBrowsers: true,
  permissionChange: 'none',
} as const;

/** The response redirects to the next page or to the app. */
export const redirects = { output: z.null(), status: 303 } as const;

/** The secret of a page or mail. The example is not a valid token. */
export const flowToken = z
  .string()
  .min(1)
  .max(128)
  .meta({
    description: 'The token of the page, or of the link in the mail.',
    examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
  });

export const typedAddress = z
  .string()
  .max(320)
  .meta({ description: 'The address of the person.', examples: ['ada@example.com'] });

/** For these errors, redirects to the page with the form, which then shows the notice of the flow. */
export const redirectOnError =
  (page: StepName | 'signUp' | 'reset', ...codes: readonly DoorwardError['code'][]) =>
  (error: DoorwardError): BareReply | undefined =>
    codes.includes(error.code)
      ? redirect(page === 'signUp' || page === 'reset' ? formPath(page) : pagePath(page))
      : undefined;
