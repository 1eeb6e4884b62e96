import { z } from 'zod';

/** The options of WebAuthn as JSON. Loose, so that GraphQL types them as JSON: a page passes them on as they are. */

const challenge = z.string().describe('32 random bytes, in base64url.');
const timeout = z.int().optional().describe('Milliseconds until the challenge ends.');
const userVerification = z.string().optional().describe('Whether the authenticator verifies its user.');

export const CreationOptions = z
  .looseObject({
    challenge,
    rp: z
      .object({
        id: z.string().optional().describe('The domain that the passkey will belong to.'),
        name: z.string().describe('What authenticators call this service.'),
      })
      .describe('This service.'),
    user: z
      .object({
        id: z.string().describe('A random id of the user for authenticators, in base64url.'),
        name: z.string().describe('Their address, or their name.'),
        displayName: z.string().describe('Their name.'),
      })
      .describe('The user.'),
    timeout,
  })
  .meta({
    description:
      'For `PublicKeyCredential.parseCreationOptionsFromJSON` (WebAuthn: PublicKeyCredentialCreationOptionsJSON).',
  });

export const RequestOptions = z
  .looseObject({
    challenge,
    rpId: z.string().optional().describe('The domain that passkeys belong to.'),
    timeout,
    userVerification,
  })
  .meta({
    description:
      'For `PublicKeyCredential.parseRequestOptionsFromJSON` (WebAuthn: PublicKeyCredentialRequestOptionsJSON).',
  });
