/*
 * Credentials as browsers send them, in the form of `PublicKeyCredential.toJSON` (WebAuthn, 5.1). Unknown members are
 * ignored.
 */

import { z } from 'zod';
import { refusal, uuid } from '../../kernel/input/values.ts';

/** The maximum length of a credential as JSON, in characters. */
export const MAX_CREDENTIAL_LENGTH = 16 * 1024;

const base64url = z
  .string()
  .min(1)
  .max(MAX_CREDENTIAL_LENGTH)
  .regex(/^[\w-]+$/);

const credentialId = base64url.max(1364).describe('Id of the credential, in base64url.');

const bounded = <T extends z.ZodType>(schema: T): T =>
  schema.check((payload) => {
    const { value } = payload;
    if (JSON.stringify(value).length > MAX_CREDENTIAL_LENGTH) payload.issues.push(refusal('too_long', value));
  });

const common = {
  id: credentialId,
  rawId: credentialId,
  type: z.literal('public-key').describe('Always `public-key`.'),
};

export const passkeyChallengeId = uuid.meta({
  description: 'The `challengeId` of the options.',
  examples: ['6b1f4c1e-0d5b-4a0e-9a53-2f0d6f1c7b84'],
});

const clientDataJSON = base64url.describe('What the browser had signed, in base64url.');

const exampleId = 'mK8vWq3xTz1nR5bY7cJ2Lg';

/** A loose object, so that GraphQL types it as JSON, because a page passes on whatever the browser returns. */
export const RegistrationCredential = bounded(
  z.looseObject({
    ...common,
    response: z
      .looseObject({
        clientDataJSON,
        attestationObject: base64url.describe('What the authenticator answers, in base64url.'),
        transports: z
          .array(z.string().max(32))
          .max(16)
          .optional()
          .describe('How the browser reaches the authenticator.'),
      })
      .describe('The answer of the authenticator.'),
  }),
).meta({
  description:
    'The answer of `navigator.credentials.create`, as `toJSON()` makes it (WebAuthn: RegistrationResponseJSON); 16 KiB at most.',
  examples: [
    {
      id: exampleId,
      rawId: exampleId,
      type: 'public-key',
      response: {
        clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
        attestationObject: 'o2NmbXRkbm9uZQ',
      },
    },
  ],
});

/** A loose object, like `RegistrationCredential`. */
export const AssertionCredential = bounded(
  z.looseObject({
    ...common,
    response: z
      .looseObject({
        clientDataJSON,
        authenticatorData: base64url.describe('What the authenticator says about itself, in base64url.'),
        signature: base64url.describe('The signature of both, in base64url.'),
        userHandle: base64url.max(88).nullish().describe('The user, as the authenticator stores them.'),
      })
      .describe('The answer of the authenticator.'),
  }),
).meta({
  description:
    'The answer of `navigator.credentials.get`, as `toJSON()` makes it (WebAuthn: AuthenticationResponseJSON); 16 KiB at most.',
  examples: [
    {
      id: exampleId,
      rawId: exampleId,
      type: 'public-key',
      response: {
        clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
        authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
        signature: 'MEUCIQDkJ3p1',
        userHandle: 'pQ8mZ1vX0cT7kL3nB5sW2yR9dF6gH4jA1eU0iOqVxYw',
      },
    },
  ],
});

export type SentRegistration = z.output<typeof RegistrationCredential>;
export type SentAssertion = z.output<typeof AssertionCredential>;

/** The members of `clientDataJSON` that the library does not check. */
interface ClientData {
  readonly crossOrigin?: unknown;
}

/**
 * Whether the page that used the passkey was in a frame of another site, which could be a trap. The library accepts
 * that if the browser does not name the other site.
 */
export function isCrossOrigin(sentClientData: string): boolean {
  const { crossOrigin } = JSON.parse(Buffer.from(sentClientData, 'base64url').toString()) as ClientData;
  return crossOrigin !== undefined && crossOrigin !== false;
}
