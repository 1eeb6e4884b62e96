import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Services } from '../../services.ts';
import { bare, type BareReply } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { iso } from '../../kernel/input/values.ts';
import { auditEntries } from './audit-entries.ts';
import { organizationMemberships, projectMemberships, keys } from './memberships.ts';
import { accounts, appConsents, factors, methods, ownPasskeys, activeSessions, user } from './identity.ts';
import { preferences, receivedNotifications } from './notifications.ts';
import type { Exporting, Section } from './section.ts';

/** The sections of an export, in order. Each new kind of personal data needs a section. */
const sections = {
  user,
  accounts,
  authenticationMethods: methods,
  passkeys: ownPasskeys,
  sessions: activeSessions,
  mfaFactors: factors,
  appGrants: appConsents,
  organizationMemberships,
  projectMemberships,
  apiKeys: keys,
  notifications: receivedNotifications,
  notificationPreferences: preferences,
  auditEntries,
} satisfies Record<string, Section>;

type Sections = typeof sections;

const descriptions: Readonly<Record<keyof Sections, string>> = {
  user: 'Who the user is.',
  accounts: 'Accounts that the user owns.',
  authenticationMethods: 'Ways to sign in.',
  passkeys: 'Passkeys that sign the user in.',
  sessions: 'Where the user is signed in.',
  mfaFactors: 'Second factors.',
  appGrants: 'What the user has consented to for apps.',
  organizationMemberships: 'Organizations that the user belongs to.',
  projectMemberships: 'Projects that the user is in.',
  apiKeys: 'Keys that act as the user.',
  notifications: 'What the user was notified of.',
  notificationPreferences: 'Which notifications reach the user, and how.',
  auditEntries: 'What the user did.',
};

export const PersonalExport = z
  .object({
    exportedAt: iso.describe('When the data was read.'),
    ...(Object.fromEntries(
      Object.entries(sections).map(([name, { schema }]) => [
        name,
        schema.describe(descriptions[name as keyof Sections]),
      ]),
    ) as {
      [K in keyof Sections]: Sections[K]['schema'];
    }),
  })
  .meta({ id: 'PersonalExport', description: 'All personal data that the service stores about a user.' });

/**
 * Returns the export as JSON, in chunks. It reads one snapshot, and the transaction ends before the first byte is sent,
 * so that a slow reader holds no database connection. Only the JSON text is kept in memory, once.
 * @throws UNAUTHENTICATED if the user was deleted in the meantime
 */
export function exportPersonalData(
  db: Executor,
  services: Services,
  { userId, credentialId }: { readonly userId: string; readonly credentialId: string },
): Promise<Buffer[]> {
  const snapshot = { isolationLevel: 'repeatable read', accessMode: 'read only' } as const;
  return db.transaction(async (tx) => {
    const exporting: Exporting = { tx, services, userId, sessionId: credentialId };
    const chunks = [Buffer.from(`{"exportedAt":${JSON.stringify(services.clock.now())}`)];
    for (const [name, section] of Object.entries<Section>(sections)) {
      chunks.push(Buffer.from(`,${JSON.stringify(name)}:`));
      for await (const text of section.json(exporting)) chunks.push(Buffer.from(text));
    }
    return [...chunks, Buffer.from('}')];
  }, snapshot);
}

/** Returns a JSON response that browsers save under this name. */
export const attachment = (name: string, chunks: readonly Buffer[]): BareReply =>
  bare(Readable.from(chunks), {
    'content-disposition': `attachment; filename="${name}"`,
    'content-length': String(chunks.reduce((sum, { length }) => sum + length, 0)),
  });
