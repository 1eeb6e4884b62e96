import { z } from 'zod';
import { AccountType } from '../../schema/people/account.ts';

/* Inputs that the operations of GitHub and of OpenID Connect providers share. */

const shortText = z.string().min(1).max(512);

const fromCli = (description: string) => ({ description: `From a command line: ${description}` });

/** Parameters that a command line sends in addition to its loopback address (identity §9). */
export const cliParameters = {
  state: z
    .string()
    .min(8)
    .max(256)
    .regex(/^[!-~]+$/)
    .meta({ ...fromCli('returned with the code.'), examples: ['8kq2VxN0pTz5'] }),
  code_challenge: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43,128}$/)
    .meta({
      ...fromCli('base64url of the SHA-256 of `codeVerifier`.'),
      examples: ['E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'],
    }),
  code_challenge_method: z.literal('S256').meta(fromCli('how the challenge was computed.')),
};

/** Parameters for starting a sign-in through a provider. */
export const beginning = {
  redirect: z.string().max(2048).optional().describe('URL to which the browser returns at the end.'),
  action: z.enum(['login', 'register', 'connect']).default('login').meta({
    description:
      '`connect` links the account to the user of the refresh cookie, after they confirm it on a page.',
  }),
  accountType: AccountType.default('personal').meta({ description: 'Account type for a new user.' }),
  state: cliParameters.state.optional(),
  code_challenge: cliParameters.code_challenge.optional(),
  code_challenge_method: cliParameters.code_challenge_method.optional(),
};

/** Parameters with which the provider sends the browser back. */
export const providerAnswer = {
  code: z.string().min(1).max(2048).optional().describe('The code of the provider if the user agreed.'),
  state: shortText.describe('The state that was sent to the provider.'),
  error: shortText.optional().describe('The error of the provider if the user did not agree.'),
  error_description: z.string().max(2048).optional().describe('Text of the error.'),
  error_uri: z.string().max(2048).optional().describe('URL at which the provider explains the error.'),
  iss: z.string().max(2048).optional().describe('The issuer of the answer; not every provider sends it.'),
};

export const SignInProvider = z
  .object({
    key: z.string().describe('The key of the provider in URLs, e.g. `github`.'),
    name: z.string().describe('Its name for people.'),
    logoUrl: z.string().nullable().describe('Its logo, served by this service; null: it has none.'),
  })
  .meta({ id: 'SignInProvider', description: 'A provider through which users can sign in.' });
