import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { signingKeys } from '../../crypto/signing-keys-table.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso } from '../../values.ts';

export const SigningKeyStatus = z
  .enum(['next', 'active', 'retired', 'revoked'])
  .meta({ id: 'SigningKeyStatus' });

/** The public half of a key that signs a project's tokens. */
export const SigningKey = entity('SigningKey', {
  table: signingKeys,
  doc: "The public half of a key that signs a project's tokens.",
  without: ['updatedAt', 'deletedAt'],
  fields: {
    kid: serverSet(z.string()),
    algorithm: serverSet(z.literal('RS256')),
    status: serverSet(SigningKeyStatus),
    isActive: serverSet(z.boolean()),
    publicKeyPem: serverSet(z.string()),
    issuer: serverSet(z.string()),
    activatedAt: serverSet(iso.nullable()),
    retiredAt: serverSet(iso.nullable()),
    publishedUntil: serverSet(iso.nullable()),
  },
  computed: { isActive: sql`${signingKeys.status} = 'active'` },
  sort: ['createdAt'],
  order: 'DESC',
});
