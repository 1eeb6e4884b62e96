import { sql } from 'drizzle-orm';
import type { Keyring } from '../crypto/keyring.ts';
import type { Database } from '../db/open.ts';
import { pgCode } from '../db/pg-error.ts';
import { SYSTEM_NODE } from '../db/nodes.ts';
import { rowsOf } from '../db/rows.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { checkpointReader } from './read-checkpoint.ts';

/**
 * Cuts audit logs after `AUDIT_RETENTION_DAYS` (configuration, retention): what is older goes as far as a checkpoint
 * has signed it that is itself older. The log then begins with the entry after the signed one, whose hash it carries,
 * so the beginning is proven by the signature as the end of an export is by its own entry.
 *
 * The service has no right to delete entries. It asks a function of the owner of the tables (migrations/0018), which
 * knows the retention by itself and goes by the clock of the database: neither a slip of the service nor a clock that
 * jumps removes an entry before its time.
 */
export interface AuditRetention {
  /** Cuts what has had its time and answers how many entries went. Never rejects; calls that meet share one run. */
  readonly run: () => Promise<number>;
  /** Ends a run with its batch. */
  readonly stop: () => Promise<unknown>;
}

export interface AuditRetentionOptions {
  readonly database: Pick<Database, 'pool' | 'transaction'>;
  readonly keyring: Pick<Keyring, 'jwksOfAll'>;
  /** 0: for ever. */
  readonly days: number;
  readonly log: (error: unknown, message: string) => void;
  readonly told: (entries: number) => void;
}

const PAGE = 100;
const BATCH = 1000;
const INSUFFICIENT_PRIVILEGE = '42501';
const UNDEFINED_FUNCTION = '42883';

/**
 * Tells the database how long entries are kept, as the owner of its tables, before the process works with fewer rights.
 *
 * @returns why the database goes on as it was told before; null if it knows
 */
export async function declareAuditRetention(owner: Executor, days: number): Promise<string | null> {
  let known: number | undefined;
  try {
    const [row] = await rowsOf<{ days: number }>(owner, sql`select audit_retention_days() as days`);
    known = row?.days;
    if (known === days) return null;
    const body = sql.raw(`'select ${Math.trunc(days)}'`);
    await owner.execute(
      sql`create or replace function audit_retention_days() returns integer language sql stable as ${body}`,
    );
    return null;
  } catch (error) {
    // A schema that is still to be migrated, which readiness tells, keeps all entries.
    if (pgCode(error) === UNDEFINED_FUNCTION) return null;
    if (pgCode(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    return `the audit log is kept for ${known} days (0: for ever), as its owner said last, and not for ${days}`;
  }
}

/** Up to where a log may go, and the signature that says what stands there. */
interface Cut {
  readonly id: string;
  readonly sequence: number;
  readonly hash: string;
  readonly jws: string;
}

export function createAuditRetention(options: AuditRetentionOptions): AuditRetention {
  const { database, keyring, days, log, told } = options;
  let stopping = false;
  let running: Promise<number> | null = null;

  /** The newest checkpoint that has had its time, of each of the next nodes that have something before it. */
  async function nextOf(after: string | null): Promise<{ last: string | null; cuts: Cut[] }> {
    const nodes = await rowsOf<{ id: string } & { [K in keyof Omit<Cut, 'id'>]: Cut[K] | null }>(
      database.pool,
      sql`select n.id, (c.metadata->>'sequence')::float8 as sequence, c.metadata->>'hash' as hash,
          c.metadata->>'jws' as jws
        from (select id from nodes where audit_sequence > 0 and (${after}::uuid is null or id > ${after}::uuid)
          order by id limit ${PAGE}) n
        left join lateral (select metadata from audit_log a where a.tenant_id = n.id
          and a.operation = 'auditCheckpoint' and a.occurred_at <= now() - make_interval(days => ${days})
          order by a.occurred_at desc limit 1) c on exists (select from audit_log o
          where o.tenant_id = n.id and o.sequence <= (c.metadata->>'sequence')::bigint)
        order by n.id`,
    );
    const cuts = nodes.filter((one): one is Cut => one.sequence !== null);
    return { last: nodes.at(-1)?.id ?? null, cuts };
  }

  async function cut({ id, sequence }: Cut): Promise<number> {
    let gone = 0;
    for (let last = BATCH; last === BATCH && !stopping; gone += last) {
      const [row] = await database.transaction((tx) =>
        rowsOf<{ gone: number }>(
          tx,
          sql`select cut_audit_log(${id}::uuid, ${sequence}::bigint, ${BATCH}) as gone`,
        ),
      );
      last = row?.gone ?? 0;
    }
    return gone;
  }

  async function whole(): Promise<number> {
    let gone = 0;
    try {
      const keys = await keyring.jwksOfAll(SYSTEM_NODE, database.pool);
      const read = checkpointReader({ keys });
      for (let after: string | null = null; !stopping;) {
        const { last, cuts } = await nextOf(after);
        for (const one of cuts) {
          try {
            const signed = await read(one.jws);
            // What nobody can prove any more is not the place to cut at: a later checkpoint will be.
            if (signed?.['sequence'] !== one.sequence || signed['hash'] !== one.hash) continue;
            gone += await cut(one);
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
    if (gone > 0) told(gone);
    return gone;
  }

  return {
    run: () => (days === 0 ? Promise.resolve(0) : (running ??= whole().finally(() => (running = null)))),
    stop() {
      stopping = true;
      return Promise.resolve(running);
    },
  };
}
