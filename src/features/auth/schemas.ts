import { z } from 'zod';
import { password } from '../identity/password-sign-in.ts';
import { SignIn } from '../identity/sign-in.ts';

/** What signing in and out takes and answers, beside what other features share. */

/** Secret of a mailed link; as an example one that works nowhere. */
export const mailedToken = z
  .string()
  .min(1)
  .max(128)
  .meta({
    description: 'The token in the link of the mail.',
    examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
  });

export const providerData = z.looseObject({ password }).meta({
  description: 'For the provider `email`: `{password}`. Unknown keys are ignored.',
});

export const VerificationRequired = z
  .object({ verificationRequired: z.literal(true).describe('No session yet: open the mail first.') })
  .meta({ id: 'VerificationRequired', description: 'The address must be verified first; a mail says how.' });

export const RegisterResult = z
  .object({
    signIn: SignIn.nullable().meta({ description: 'Null when the address must be verified first.' }),
    verificationRequired: z.boolean().describe('true: no session yet, open the mail first.'),
  })
  .meta({ id: 'RegisterResult', description: 'The new session, or the request to open the mail.' });

export const RefreshedSession = z
  .object({
    accessToken: z.string().describe('Token for calls, in `Authorization: Bearer`.'),
    refreshToken: z.string().describe('The next refresh token; the one sent works no more.'),
    expiresIn: z.int().meta({ description: 'Seconds until the access token ends.' }),
    mfaRequired: z.boolean().describe('true: the second factor is still to be given.'),
  })
  .meta({ id: 'RefreshedSession', description: 'The next tokens of a session.' });

export const refreshToken = z
  .string()
  .min(1)
  .max(1024)
  .describe('The refresh token of the session; without it the cookie counts.');
