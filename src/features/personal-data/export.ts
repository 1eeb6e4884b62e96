import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Services } from '../../kernel/context.ts';
import { bare, type BareReply } from '../../kernel/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { iso } from '../../values.ts';
import { acts } from './acts.ts';
import { inOrganizations, inProjects, keys } from './belonging.ts';
import { accounts, factors, methods, signedIn, user } from './identity.ts';
import { preferences, told } from './notifications.ts';
import type { Exporting, Section } from './section.ts';

/** Everything that an export has, in its order. A new kind of personal data is a section more. */
const sections = {
  user,
  accounts,
  authenticationMethods: methods,
  sessions: signedIn,
  mfaFactors: factors,
  organizationMemberships: inOrganizations,
  projectMemberships: inProjects,
  apiKeys: keys,
  notifications: told,
  notificationPreferences: preferences,
  auditEntries: acts,
} satisfies Record<string, Section>;

type Sections = typeof sections;

const meanings: Readonly<Record<keyof Sections, string>> = {
  user: 'Who the user is.',
  accounts: 'Accounts that the user owns.',
  authenticationMethods: 'Ways to sign in.',
  sessions: 'Where the user is signed in.',
  mfaFactors: 'Second factors.',
  organizationMemberships: 'Organizations that the user belongs to.',
  projectMemberships: 'Projects that the user is in.',
  apiKeys: 'Keys that act as the user.',
  notifications: 'What the user was notified of.',
  notificationPreferences: 'Which notifications reach the user, and how.',
  auditEntries: 'What the user did.',
};

export const PersonalExport = z
  .object({
    exportedAt: iso.describe('The moment of which it tells.'),
    ...(Object.fromEntries(
      Object.entries(sections).map(([name, { schema }]) => [
        name,
        schema.describe(meanings[name as keyof Sections]),
      ]),
    ) as {
      [K in keyof Sections]: Sections[K]['schema'];
    }),
  })
  .meta({ id: 'PersonalExport', description: 'What the service knows of a user.' });

/**
 * The export as JSON, in pieces. One snapshot that nothing else can change; it is over before the first byte is sent, so
 * that a slow reader holds no connection of the database. The text is all that is kept, once.
 * @throws UNAUTHENTICATED when the user was deleted meanwhile
 */
export function exportPerson(
  db: Executor,
  services: Services,
  { userId, credentialId }: { readonly userId: string; readonly credentialId: string },
): Promise<Buffer[]> {
  const snapshot = { isolationLevel: 'repeatable read', accessMode: 'read only' } as const;
  return db.transaction(async (tx) => {
    const exporting: Exporting = { tx, services, userId, sessionId: credentialId };
    const pieces = [Buffer.from(`{"exportedAt":${JSON.stringify(services.clock.now())}`)];
    for (const [name, section] of Object.entries<Section>(sections)) {
      pieces.push(Buffer.from(`,${JSON.stringify(name)}:`));
      for await (const text of section.json(exporting)) pieces.push(Buffer.from(text));
    }
    return [...pieces, Buffer.from('}')];
  }, snapshot);
}

/** JSON that a browser stores under this name. */
export const attachment = (name: string, pieces: readonly Buffer[]): BareReply =>
  bare(Readable.from(pieces), {
    'content-disposition': `attachment; filename="${name}"`,
    'content-length': String(pieces.reduce((sum, { length }) => sum + length, 0)),
  });
