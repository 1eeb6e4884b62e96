import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { signingKeys } from '../../crypto/signing-keys-table.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso } from '../../values.ts';

export const SigningKeyStatus = z.enum(['next', 'active', 'retired', 'revoked']).meta({
  id: 'SigningKeyStatus',
  description: 'next: published and waiting; active: signs; retired: still verifies; revoked: no more.',
});

/** The public half of a key that signs a project's tokens. */
export const SigningKey = entity('SigningKey', {
  table: signingKeys,
  doc: "The public half of a key that signs a project's tokens.",
  without: ['updatedAt', 'deletedAt'],
  fields: {
    kid: serverSet(z.string().describe('Its name in the header of tokens.')),
    algorithm: serverSet(z.literal('RS256').describe('How it signs.')),
    status: serverSet(
      SigningKeyStatus.describe('Whether the key signs now, signs next, only verifies, or is revoked.'),
    ),
    isActive: serverSet(z.boolean().describe('Whether it is the key that signs now.')),
    publicKeyPem: serverSet(z.string().describe('The public key as PEM.')),
    issuer: serverSet(z.string().describe('The `iss` of its tokens.')),
    activatedAt: serverSet(iso.nullable().describe('Since when it signs or has signed.')),
    retiredAt: serverSet(iso.nullable().describe('When it stopped signing.')),
    publishedUntil: serverSet(iso.nullable().describe('Until when the JWKS has it.')),
  },
  computed: { isActive: sql`${signingKeys.status} = 'active'` },
  sort: ['createdAt'],
  order: 'DESC',
});
