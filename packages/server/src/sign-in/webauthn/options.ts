import { z } from 'zod';
import { passkeyChallengeId } from './credential.ts';

/*
 * WebAuthn options as JSON. Their schemas are loose, so that GraphQL types them as JSON, because a page passes them on
 * unchanged; outputs contain only the members that are declared here.
 */

const challenge = z.string().describe('32 random bytes, in base64url.');
const timeout = z.int().describe('Milliseconds until the challenge ends.');
const keyType = z.literal('public-key').describe('Always `public-key`.');

const descriptor = z.object({
  id: z.string().describe('Id of the credential, in base64url.'),
  type: keyType,
  transports: z.array(z.string()).describe('How a browser reaches its authenticator.'),
});

export const CreationOptions = z
  .looseObject({
    challenge,
    rp: z
      .object({
        id: z.string().describe('The domain that the passkey will belong to.'),
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
    pubKeyCredParams: z
      .array(z.object({ type: keyType, alg: z.int().describe('Number of the algorithm in COSE.') }))
      .describe('ES256, EdDSA and RS256.'),
    timeout,
    attestation: z.string().describe('Always `none`.'),
    authenticatorSelection: z
      .object({
        residentKey: z.string().describe('Always `required`.'),
        requireResidentKey: z.boolean().describe('The same for older browsers.'),
        userVerification: z.string().describe('Always `required`.'),
      })
      .describe('What the authenticator must be able to do.'),
    excludeCredentials: z.array(descriptor).describe('The passkeys that the user has.'),
  })
  .meta({
    description:
      'For `PublicKeyCredential.parseCreationOptionsFromJSON` (WebAuthn: PublicKeyCredentialCreationOptionsJSON).',
  });

export const RequestOptions = z
  .looseObject({
    challenge,
    rpId: z.string().describe('The domain that passkeys belong to.'),
    timeout,
    allowCredentials: z.array(descriptor).describe('Always empty: the user chooses a passkey.'),
    userVerification: z.string().describe('Always `preferred`.'),
  })
  .meta({
    description:
      'For `PublicKeyCredential.parseRequestOptionsFromJSON` (WebAuthn: PublicKeyCredentialRequestOptionsJSON).',
  });

export const PasskeyRequest = z
  .object({ challengeId: passkeyChallengeId, publicKey: RequestOptions })
  .meta({ id: 'PasskeyRequest', description: 'A challenge for any passkey of this service.' });
