import { sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import { rowsOf } from '../db/statements/rows.ts';
import type { ActAsSystem, SystemAct } from '../events/system-act.ts';
import { actorOf } from '../events/record.ts';
import type { Principal } from '../kernel/context.ts';
import type { ResolvedScope } from '../kernel/scope.ts';

type NoteEntry = (principal: Principal, scope: ResolvedScope) => Promise<void> | void;

/** A process remembers what is recorded; the row of the session decides between processes. */
const MAX_REMEMBERED = 10_000;

/**
 * Records, once in a session, that an operator entered an organization for a member, or that an owner signed in around
 * the organization's identity provider, in the log of that organization. The event notifies its owners. The call
 * continues only after the commit, so every entry is visible.
 */
export function createEntryNotes(actAsSystem: ActAsSystem): {
  readonly noteEntry: NoteEntry;
  readonly noteBypass: NoteEntry;
} {
  const remembered = new LRUCache<string, true>({ max: MAX_REMEMBERED });

  const once =
    (
      operation: string,
      recordingOf: (
        principal: Principal,
        session: { readonly reason: string | null },
      ) => Omit<Parameters<SystemAct['record']>[0], 'node'>,
    ): NoteEntry =>
    (principal, { organizationId }) => {
      if (organizationId === null) return;
      const { credentialId: id } = principal;
      const key = `${id} ${organizationId}`;
      if (remembered.has(key)) return;
      return actAsSystem(operation, async (act) => {
        const [row] = await rowsOf<{ reason: string | null }>(
          act.tx,
          sql`update sessions set entered_organizations = array_append(coalesce(entered_organizations, '{}'), ${organizationId}::uuid)
            where id = ${id}::uuid and not (${organizationId}::uuid = any(coalesce(entered_organizations, '{}')))
            returning impersonation_reason as reason`,
        );
        if (!row) return;
        const node = { id: organizationId, scope: { tenant: 'organization' as const, id: organizationId } };
        act.record({ actor: actorOf(principal), node, ...recordingOf(principal, row) });
      }).then(() => void remembered.set(key, true));
    };

  const note = once('enterOrganization', ({ credentialId: id, userId }, { reason }) => ({
    event: 'impersonation.entered',
    data: { id, userId, reason },
    target: { type: 'User', id: userId },
    metadata: { reason },
  }));
  return {
    noteEntry: (principal, scope) => (principal.impersonator ? note(principal, scope) : undefined),
    noteBypass: once('bypassConnection', ({ credentialId: id, userId }) => ({
      event: 'organization_connection.bypassed',
      data: { id, userId },
      target: { type: 'User', id: userId },
    })),
  };
}
