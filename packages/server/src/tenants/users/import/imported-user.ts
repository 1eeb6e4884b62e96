import { z } from 'zod';
import { MAX_HASH_LENGTH, readImportedHash } from '../../../crypto/passwords/imported-hash.ts';
import { Locale } from '../../../schema/people/user.ts';
import { linkIds } from '../../../kernel/entity.ts';
import { email, metadata, refusal, text } from '../../../kernel/input/values.ts';

const acceptedHashes =
  'use a hash of bcrypt ($2b$…, cost 4 to 13), argon2 ($argon2id$v=19$…), scrypt ($scrypt$ln=15,r=8,p=1$…) or PBKDF2 ($pbkdf2-sha256$i=…$…), within the bounds of docs/guides/import-users.md';

const passwordHash = z
  .string()
  .check((payload) => {
    const { value } = payload;
    if (value.length > MAX_HASH_LENGTH) payload.issues.push(refusal('too_long', value));
    else if (!readImportedHash(value)) payload.issues.push(refusal('format', value, [], acceptedHashes));
  })
  .meta({
    maxLength: MAX_HASH_LENGTH,
    description:
      'Hash of their password: bcrypt, argon2, scrypt or PBKDF2, as docs/guides/import-users.md says. Absent: none, which needs `emailVerified`.',
    examples: ['$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'],
  });

/** A user of another service, with the password that they have in that service. */
export const ImportedUser = z
  .strictObject({
    email: email.meta({ description: 'Their address.', examples: ['grace@example.com'] }),
    emailVerified: z
      .boolean()
      .default(false)
      .describe(
        'true: the address is known to be theirs. Else they prove it when they sign in with their password, which is then required.',
      ),
    name: text(1, 255)
      .optional()
      .meta({
        description: 'Their name; the part of the address before the @ if absent.',
        examples: ['Grace Hopper'],
      }),
    locale: Locale.nullable().default(null).describe('Language of their mails; null: that of the browser.'),
    passwordHash: passwordHash.optional(),
    roleIds: linkIds(20).default([]).describe('Roles that they get in the project.'),
    metadata: metadata.default({}).describe('JSON that the project keeps about them, such as `externalId`.'),
  })
  .meta({ id: 'ImportedUser', description: 'A user of another service.' });

export type ImportedUser = z.output<typeof ImportedUser>;

export const ImportStatus = z.enum(['created', 'exists', 'claimed']).meta({
  id: 'UserImportStatus',
  description:
    '`exists`: a user has this address and stays as they are. `claimed`: a user registered with it and has not proved it.',
});
