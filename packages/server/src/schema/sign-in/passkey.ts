import { bigint, boolean, index, pgTable, text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { time, userColumn } from '../columns.ts';
import { entity, required, serverSet } from '../../kernel/entity.ts';
import { iso, text, uuid } from '../../kernel/input/values.ts';

/** The maximum number of passkeys of one user (docs/guides/passkeys.md). */
export const MAX_PASSKEYS = 10;

/** Passkeys. Responses contain only the fields of `Passkey`, none of which reveals the key pair. */
export const passkeys = pgTable(
  'passkeys',
  {
    id: uuidColumn('id').primaryKey(),
    userId: userColumn(),
    name: textColumn('name').notNull(),
    /** The id that the authenticator chose, in base64url. */
    credentialId: textColumn('credential_id').notNull().unique('passkeys_credential'),
    /** The public key in COSE (RFC 9052), in base64url. */
    publicKey: textColumn('public_key').notNull(),
    /** The signature counter of the authenticator; 0: it does not count. */
    counter: bigint('counter', { mode: 'number' }).notNull(),
    aaguid: uuidColumn('aaguid').notNull(),
    transports: textColumn('transports').array().notNull(),
    backedUp: boolean('backed_up').notNull(),
    userVerified: boolean('user_verified').notNull(),
    lastUsedAt: time('last_used_at'),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [index('passkeys_user').on(table.userId)],
);

/**
 * The user id that an authenticator stores: random, so that a person who holds the authenticator learns nothing about
 * the user (WebAuthn, 14.6.1). It stays when the passkeys are removed, so that a new passkey replaces the old one on
 * the same authenticator.
 */
export const passkeyHandles = pgTable('passkey_handles', {
  userId: userColumn().primaryKey(),
  /** 32 random bytes in base64url. */
  handle: textColumn('handle').notNull().unique('passkey_handles_handle'),
});

export const passkeyName = text(1, 100).meta({
  description: 'A name of your choice.',
  examples: ['Laptop'],
});

/** A passkey as its user sees it. */
export const Passkey = entity('Passkey', {
  table: passkeys,
  doc: 'A key pair on a device or in a password manager that signs a user in.',
  without: ['updatedAt', 'deletedAt'],
  fields: {
    name: required(passkeyName),
    aaguid: serverSet(
      uuid.meta({ description: 'The model of the authenticator as it says; all zeros: it does not say.' }),
    ),
    transports: serverSet(
      z.array(z.string()).meta({
        description: 'How a browser reaches the authenticator: `internal`, `hybrid`, `usb`, `nfc`, `ble`.',
        examples: [['internal', 'hybrid']],
      }),
    ),
    backedUp: serverSet(z.boolean().describe('Whether it is backed up, for example to other devices.')),
    userVerified: serverSet(
      z
        .boolean()
        .describe('Whether the authenticator verified the user, by PIN or biometrics, at its last use.'),
    ),
    lastUsedAt: serverSet(iso.nullable().describe('When the user last used it.')),
  },
  sort: ['createdAt', 'lastUsedAt'],
});
