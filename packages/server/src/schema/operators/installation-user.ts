import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso } from '../../kernel/input/values.ts';
import { Locale, UserKind, users, UserStatus } from '../people/user.ts';

/** A user as operators see them: without secrets, and without anything that a tenant stores about the user. */
export const InstallationUser = entity('InstallationUser', {
  table: users,
  doc: 'A user of the installation, as its operators see them.',
  fields: {
    name: serverSet(z.string().describe('Their name.')),
    email: serverSet(z.string().nullable().describe('Their primary address.')),
    emailVerified: serverSet(z.boolean().describe('Whether the user has verified the address.')),
    locale: serverSet(Locale.nullable().describe('Language of their mails; null: that of the browser.')),
    kind: serverSet(UserKind.describe('A person, or a machine.')),
    status: serverSet(UserStatus.describe('Whether they may sign in and act.')),
    suspendedAt: serverSet(
      iso.nullable().describe('When an operator suspended them; null unless suspended.'),
    ),
    isManaged: serverSet(z.boolean().describe('Whether a tenant created them, so that they cannot sign in.')),
  },
  within: () => sql`true`,
  order: 'DESC',
});
