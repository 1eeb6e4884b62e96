import { z } from 'zod';
import { password } from '../../sessions/password-sign-in.ts';
import { SignIn } from '../../sessions/sign-in.ts';

/** The secret of a mailed link. */
export const mailedToken = z
  .string()
  .min(1)
  .max(128)
  .meta({
    description: 'The token in the mailed link.',
    examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
  });

/** The credential of a sign-in or registration. */
export const providerData = z.looseObject({ password }).meta({
  description: 'For the provider `email`: `{password}`. Unknown keys are ignored.',
});

export const VerificationRequired = z
  .object({
    verificationRequired: z.literal(true).describe('true: no session yet; open the mailed link first.'),
  })
  .meta({
    id: 'VerificationRequired',
    description: 'The address must be verified first, with the mailed link.',
  });

export const RegisterResult = z
  .object({
    signIn: SignIn.nullable().meta({ description: 'Null when the address must be verified first.' }),
    verificationRequired: z.boolean().describe('true: no session yet; open the mailed link first.'),
  })
  .meta({ id: 'RegisterResult', description: 'The new session, or the request to verify the address.' });

export const RefreshedSession = z
  .object({
    accessToken: z.string().describe('Token for calls, in `Authorization: Bearer`.'),
    refreshToken: z.string().describe('The next refresh token; the one that was sent stops working.'),
    expiresIn: z.int().meta({ description: 'Seconds until the access token expires.' }),
    mfaRequired: z.boolean().describe('true: this session still needs the second factor.'),
  })
  .meta({ id: 'RefreshedSession', description: 'The next tokens of a session.' });

export const refreshToken = z
  .string()
  .min(1)
  .max(1024)
  .describe('The refresh token of the session; default: the refresh cookie.');
