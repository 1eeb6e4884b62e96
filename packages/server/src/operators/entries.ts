import { sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import { rowsOf } from '../db/statements/rows.ts';
import type { ActAsSystem, SystemAct } from '../events/system-act.ts';
import { actorOf } from '../events/record.ts';
import type { Principal } from '../kernel/context.ts';
import type { ResolvedScope } from '../kernel/scope.ts';

type NoteEntry = (principal: Principal, scope: ResolvedScope) => Promise<void> | void;

/** How many recorded entries a process remembers. Between processes, the row of the session decides. */
const MAX_REMEMBERED = 10_000;

/**
 * Records in the log of an organization, once for each session, that an operator entered it for a member, or that an
 * owner signed in without its identity provider. The event notifies its owners. The call continues only after the
 * commit, so no entry remains unrecorded.
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
