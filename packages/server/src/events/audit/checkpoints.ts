import { and, eq, sql } from 'drizzle-orm';
import type { Keyring } from '../../crypto/keys/keyring.ts';
import { nodes, SYSTEM_NODE } from '../../schema/nodes.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { NodeRef } from '../../kernel/event.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { ActAsSystem } from '../system-act.ts';

/*
 * Signs the head of each audit log every thousand entries or daily (events §7). An attacker who recomputes a whole
 * chain gets valid hashes, but cannot sign them. The signature is stored as an entry of the log, so that every reader
 * of the log has it.
 *
 * The head is read and signed before the transaction that stores the signature. This is safe, because entries do not
 * change and later entries do not affect the signature. If several processes sign the same head, the first update wins.
 */
const ENTRIES = 1000;
const DAY_MS = 86_400_000;
const BATCH = 100;

/**
 * The `type` claim of checkpoints. `authenticate` accepts only the types of access tokens, so a checkpoint isn't a
 * credential.
 */
const CHECKPOINT = 'auditCheckpoint';

interface Checkpoints {
  /** Signs all due logs, and returns how many it signed. Never rejects; concurrent calls share one run. */
  readonly run: () => Promise<number>;
  /** Stops after the current log. */
  readonly stop: () => Promise<unknown>;
}

interface CheckpointOptions {
  readonly pool: Executor;
  readonly keyring: Pick<Keyring, 'sign'>;
  readonly clock: Clock;
  readonly actAsSystem: ActAsSystem;
  readonly log: (error: unknown, message: string) => void;
}

/** The head of a log. `checkpoint` is the last signed sequence, plus one for the entry with that signature. */
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

  const findDue = (after: string | null): Promise<Head[]> => {
    const dayAgo = new Date(clock.now().getTime() - DAY_MS).toISOString();
    return rowsOf<Head>(
      pool,
      sql`select n.id, n.kind, n.parent_id, o.kind as parent_kind, n.audit_sequence::float8 as sequence,
          n.audit_hash as hash, n.audit_checkpoint::float8 as checkpoint
        from nodes n left join nodes o on o.id = n.parent_id
        where (n.audit_sequence - n.audit_checkpoint >= ${ENTRIES}
            or (n.audit_sequence > n.audit_checkpoint and n.audit_checkpoint_at <= ${dayAgo}::timestamptz))
          and (${after}::uuid is null or n.id > ${after}::uuid)
        order by n.id limit ${BATCH}`,
    );
  };

  async function sign(head: Head): Promise<boolean> {
    const { id, sequence, hash, checkpoint } = head;
    const now = clock.now();
    const scope = scopeOf(head);
    const claims = { type: CHECKPOINT, scope, sequence, hash, iat: Math.floor(now.getTime() / 1000) };
    const jws = await keyring.sign(SYSTEM_NODE, claims);
    return actAsSystem(CHECKPOINT, async (act) => {
      const claimed = await act.tx
        .update(nodes)
        // Counts one more entry, the checkpoint's own, so that a log without other new entries needs no further
        // checkpoint. Entries that were added since the head was read count as not signed.
        .set({ auditCheckpoint: sequence + 1, auditCheckpointAt: now })
        .where(and(eq(nodes.id, id), eq(nodes.auditCheckpoint, checkpoint)))
        .returning({ id: nodes.id });
      if (claimed.length === 0) return false;
      act.record({ node: { id, scope, evenDeleted: true }, metadata: { sequence, hash, jws } });
      return true;
    });
  }

  async function signAll(): Promise<number> {
    let signed = 0;
    try {
      for (let after: string | null = null; !stopping;) {
        const heads: Head[] = await findDue(after);
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
    run: () => (running ??= signAll().finally(() => (running = null))),
    stop() {
      stopping = true;
      return Promise.resolve(running);
    },
  };
}

/** The scope that a node's entries have. */
function scopeOf({ id, kind, parent_id, parent_kind }: Head): NodeRef['scope'] {
  if (kind === 'system') return { tenant: 'installation', id };
  if (kind !== 'project') return { tenant: kind, id };
  const tenant = parent_kind === 'organization' ? 'organizationProject' : 'accountProject';
  return { tenant, id: `${parent_id ?? ''}:${id}` };
}
