import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { signingKeys } from '../../crypto/keys/signing-keys-table.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso } from '../../kernel/input/values.ts';

export const SigningKeyStatus = z.enum(['next', 'active', 'retired', 'revoked']).meta({
  id: 'SigningKeyStatus',
  description: 'next: published, does not sign yet; active: signs; retired: only verifies; revoked: refused.',
});

/** The public key of a pair that signs a project's tokens. */
export const SigningKey = entity('SigningKey', {
  table: signingKeys,
  doc: "The public key of a pair that signs a project's tokens.",
  without: ['updatedAt', 'deletedAt'],
  fields: {
    kid: serverSet(z.string().describe('Its id in the header of tokens.')),
    algorithm: serverSet(z.literal('RS256').describe('The algorithm that it signs with.')),
    status: serverSet(
      SigningKeyStatus.describe('Whether the key signs now, signs next, only verifies, or is revoked.'),
    ),
    isActive: serverSet(z.boolean().describe('Whether it is the key that signs now.')),
    publicKeyPem: serverSet(z.string().describe('The public key as PEM.')),
    issuer: serverSet(z.string().describe('The `iss` of its tokens.')),
    activatedAt: serverSet(iso.nullable().describe('When it started signing.')),
    retiredAt: serverSet(iso.nullable().describe('When it stopped signing.')),
    publishedUntil: serverSet(iso.nullable().describe('Until when it is in the JWKS.')),
  },
  computed: { isActive: sql`${signingKeys.status} = 'active'` },
  sort: ['createdAt'],
  order: 'DESC',
});
