import { and, eq, sql } from 'drizzle-orm';
import type { Keyring } from '../crypto/keyring.ts';
import { nodes, SYSTEM_NODE } from '../db/nodes.ts';
import { rowsOf } from '../db/rows.ts';
import type { NodeRef } from '../kernel/event.ts';
import type { Clock } from '../kernel/ports.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { ActAsSystem } from './system-act.ts';

/**
 * Signs where the audit log of a node has come to, every thousand entries or daily (events §7). A chain that is made
 * anew as a whole has good hashes and no such signature. The signature stands in the log, as an entry, so that whoever
 * reads the log has it.
 *
 * Signed is what was read before; entries do not change, so it does not matter what comes between that and the entry.
 * Of several processes that find the same node due, the first one's update decides.
 */
const ENTRIES = 1000;
const DAY_MS = 86_400_000;
const PAGE = 100;

/** Kind of the signed claims. No access token has it, and `authenticate` takes no other kinds than theirs. */
export const CHECKPOINT = 'auditCheckpoint';

export interface Checkpoints {
  /** Signs what is due and answers how many logs that were. Never rejects; calls that meet share one run. */
  readonly run: () => Promise<number>;
  /** Ends a run with the log that it is at. */
  readonly stop: () => Promise<unknown>;
}

export interface CheckpointOptions {
  readonly pool: Executor;
  readonly keyring: Pick<Keyring, 'sign'>;
  readonly clock: Clock;
  readonly actAsSystem: ActAsSystem;
  readonly log: (error: unknown, message: string) => void;
}

/** The end of a log, and what its last checkpoint covers. */
interface Head {
  readonly id: string;
  readonly kind: 'account' | 'organization' | 'project' | 'system';
  readonly parent_id: string | null;
  readonly parent_kind: string | null;
  readonly sequence: number;
  readonly hash: string;
  readonly checkpoint: number;
}

export function createCheckpoints({
  pool,
  keyring,
  clock,
  actAsSystem,
  log,
}: CheckpointOptions): Checkpoints {
  let stopping = false;
  let running: Promise<number> | null = null;

  const due = (after: string | null): Promise<Head[]> => {
    const dayAgo = new Date(clock.now().getTime() - DAY_MS).toISOString();
    return rowsOf<Head>(
      pool,
      sql`select n.id, n.kind, n.parent_id, o.kind as parent_kind, n.audit_sequence::float8 as sequence,
          n.audit_hash as hash, n.audit_checkpoint::float8 as checkpoint
        from nodes n left join nodes o on o.id = n.parent_id
        where (n.audit_sequence - n.audit_checkpoint >= ${ENTRIES}
            or (n.audit_sequence > n.audit_checkpoint and n.audit_checkpoint_at <= ${dayAgo}::timestamptz))
          and (${after}::uuid is null or n.id > ${after}::uuid)
        order by n.id limit ${PAGE}`,
    );
  };

  async function sign(head: Head): Promise<boolean> {
    const { id, sequence, hash, checkpoint } = head;
    const now = clock.now();
    const scope = scopeOf(head);
    const claims = { type: CHECKPOINT, scope, sequence, hash, iat: Math.floor(now.getTime() / 1000) };
    const jws = await keyring.sign(SYSTEM_NODE, claims);
    return actAsSystem(CHECKPOINT, async (act) => {
      const taken = await act.tx
        .update(nodes)
        // Its own entry is the next one: a log to which nothing else is added needs no other checkpoint.
        .set({ auditCheckpoint: sql`${nodes.auditSequence} + 1`, auditCheckpointAt: now })
        .where(and(eq(nodes.id, id), eq(nodes.auditCheckpoint, checkpoint)))
        .returning({ id: nodes.id });
      if (taken.length === 0) return false;
      act.record({ node: { id, scope, evenDeleted: true }, metadata: { sequence, hash, jws } });
      return true;
    });
  }

  async function whole(): Promise<number> {
    let signed = 0;
    try {
      for (let after: string | null = null; !stopping;) {
        const heads: Head[] = await due(after);
        for (const head of heads) {
          if (stopping) break;
          try {
            if (await sign(head)) signed++;
          } catch (error) {
            log(error, 'an audit log could not be signed and will be tried again');
          }
        }
        const last = heads.at(-1);
        if (!last) break;
        after = last.id;
      }
    } catch (error) {
      log(error, 'audit logs could not be signed');
    }
    return signed;
  }

  return {
    run: () => (running ??= whole().finally(() => (running = null))),
    stop() {
      stopping = true;
      return Promise.resolve(running);
    },
  };
}

/** How entries of a node show it. */
function scopeOf({ id, kind, parent_id, parent_kind }: Head): NodeRef['scope'] {
  if (kind === 'system') return { tenant: 'installation', id };
  if (kind !== 'project') return { tenant: kind, id };
  const tenant = parent_kind === 'organization' ? 'organizationProject' : 'accountProject';
  return { tenant, id: `${parent_id ?? ''}:${id}` };
}
