import { sql } from 'drizzle-orm';
import type { Keyring } from '../../crypto/keys/keyring.ts';
import type { Database } from '../../db/connection/open.ts';
import { pgCode } from '../../db/statements/pg-error.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { checkpointReader } from './read-checkpoint.ts';

interface AuditRetention {
  /** Deletes expired entries, and returns how many. Never rejects; concurrent calls share one run. */
  readonly run: () => Promise<number>;
  /** Stops after the current batch. */
  readonly stop: () => Promise<unknown>;
}

interface AuditRetentionOptions {
  readonly database: Pick<Database, 'pool' | 'transaction'>;
  readonly keyring: Pick<Keyring, 'jwksOfAll'>;
  /** How long entries are kept; 0 means forever. */
  readonly days: number;
  readonly log: (error: unknown, message: string) => void;
  readonly onCut: (entries: number) => void;
}

const NODE_BATCH = 100;
const BATCH = 1000;
const INSUFFICIENT_PRIVILEGE = '42501';
const UNDEFINED_FUNCTION = '42883';

/**
 * Stores the retention in the database. Runs as the table owner, before the process switches to the service role.
 *
 * @returns why the stored retention could not be changed; null if it is up to date
 */
export async function declareAuditRetention(owner: Executor, days: number): Promise<string | null> {
  let declared: number | undefined;
  try {
    const [row] = await rowsOf<{ days: number }>(owner, sql`select audit_retention_days() as days`);
    declared = row?.days;
    if (declared === days) return null;
    const body = sql.raw(`'select ${Math.trunc(days)}'`);
    await owner.execute(
      sql`create or replace function audit_retention_days() returns integer language sql stable as ${body}`,
    );
    return null;
  } catch (error) {
    // The schema is not migrated yet. Readiness reports that, and until then no entry is deleted.
    if (pgCode(error) === UNDEFINED_FUNCTION) return null;
    if (pgCode(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    return `the audit log is kept for ${declared} days (0: forever), as its owner declared last, and not for ${days}`;
  }
}

/** The checkpoint up to which a log may be deleted. */
interface Cut {
  readonly id: string;
  readonly sequence: number;
  readonly hash: string;
  readonly jws: string;
}

/**
 * Creates the job that deletes audit entries older than `AUDIT_RETENTION_DAYS`, up to the last entry that an equally
 * old checkpoint covers. The remaining log starts with the entry after the signed one and contains its hash, so the
 * signature proves the start of the log.
 *
 * The service has no privilege to delete entries. It calls a function of the table owner (migrations/0018) that stores
 * the retention and uses the database clock, so neither a bug in the service nor a wrong system clock deletes an entry
 * too early.
 */
export function createAuditRetention(options: AuditRetentionOptions): AuditRetention {
  const { database, keyring, days, log, onCut } = options;
  let stopping = false;
  let running: Promise<number> | null = null;

  /** Finds, for each node of the next batch, its newest expired checkpoint, if entries that it covers still exist. */
  async function findCuts(after: string | null): Promise<{ last: string | null; cuts: Cut[] }> {
    const nodes = await rowsOf<{ id: string } & { [K in keyof Omit<Cut, 'id'>]: Cut[K] | null }>(
      database.pool,
      sql`select n.id, (c.metadata->>'sequence')::float8 as sequence, c.metadata->>'hash' as hash,
          c.metadata->>'jws' as jws
        from (select id from nodes where audit_sequence > 0 and (${after}::uuid is null or id > ${after}::uuid)
          order by id limit ${NODE_BATCH}) n
        left join lateral (select metadata from audit_log a where a.tenant_id = n.id
          and a.operation = 'auditCheckpoint' and a.occurred_at <= now() - make_interval(days => ${days})
          order by a.occurred_at desc limit 1) c on exists (select from audit_log o
          where o.tenant_id = n.id and o.sequence <= (c.metadata->>'sequence')::bigint)
        order by n.id`,
    );
    const cuts = nodes.filter((node): node is Cut => node.sequence !== null);
    return { last: nodes.at(-1)?.id ?? null, cuts };
  }

  async function cut({ id, sequence }: Cut): Promise<number> {
    let deleted = 0;
    for (let last = BATCH; last === BATCH && !stopping; deleted += last) {
      const [row] = await database.transaction((tx) =>
        rowsOf<{ deleted: number }>(
          tx,
          sql`select cut_audit_log(${id}::uuid, ${sequence}::bigint, ${BATCH}) as deleted`,
        ),
      );
      last = row?.deleted ?? 0;
    }
    return deleted;
  }

  async function cutAll(): Promise<number> {
    let deleted = 0;
    try {
      const keys = await keyring.jwksOfAll(SYSTEM_NODE, database.pool);
      const read = checkpointReader({ keys });
      for (let after: string | null = null; !stopping;) {
        const { last, cuts } = await findCuts(after);
        for (const checkpoint of cuts) {
          try {
            const signed = await read(checkpoint.jws);
            // The start of a shortened log must be provable, so a checkpoint with an invalid signature is skipped.
            if (signed?.['sequence'] !== checkpoint.sequence || signed['hash'] !== checkpoint.hash) continue;
            deleted += await cut(checkpoint);
          } catch (error) {
            log(error, 'an audit log could not be cut and will be tried again');
          }
        }
        if (last === null) break;
        after = last;
      }
    } catch (error) {
      log(error, 'audit logs could not be cut');
    }
    if (deleted > 0) onCut(deleted);
    return deleted;
  }

  return {
    run: () => (days === 0 ? Promise.resolve(0) : (running ??= cutAll().finally(() => (running = null)))),
    stop() {
      stopping = true;
      return Promise.resolve(running);
    },
  };
}
