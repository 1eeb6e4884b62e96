import { sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import { rowsOf } from '../../db/query/rows.ts';
import type { ActAsSystem } from '../../events/system-act.ts';
import { actorOf } from '../../events/record.ts';
import type { Principal } from '../../kernel/context.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';

/**
 * Records, once, that an operator entered an organization for a member, in the log of that organization; the
 * event notifies its owners. The call goes on only after the commit, so that no operator enters unseen.
 */
export type NoteEntry = (principal: Principal, scope: ResolvedScope) => Promise<void> | void;

/** A process remembers what is recorded; the row of the session decides between processes. */
const MAX_REMEMBERED = 10_000;

export function createEntryNotes(actAsSystem: ActAsSystem): NoteEntry {
  const remembered = new LRUCache<string, true>({ max: MAX_REMEMBERED });
  return (principal, { organizationId }) => {
    if (!principal.impersonator || organizationId === null) return;
    const { credentialId: id, userId } = principal;
    const key = `${id} ${organizationId}`;
    if (remembered.has(key)) return;
    return actAsSystem('enterOrganization', async (act) => {
      const [row] = await rowsOf<{ reason: string | null }>(
        act.tx,
        sql`update sessions set entered_organizations = array_append(entered_organizations, ${organizationId}::uuid)
          where id = ${id}::uuid and not (${organizationId}::uuid = any(entered_organizations))
          returning impersonation_reason as reason`,
      );
      if (!row) return;
      const { reason } = row;
      act.record({
        actor: actorOf(principal),
        node: { id: organizationId, scope: { tenant: 'organization', id: organizationId } },
        event: 'impersonation.entered',
        data: { id, userId, reason },
        target: { type: 'User', id: userId },
        metadata: { reason },
      });
    }).then(() => void remembered.set(key, true));
  };
}
