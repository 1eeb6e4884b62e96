import { sql, TransactionRollbackError } from 'drizzle-orm';
import { setImmediate as othersFirst } from 'node:timers/promises';
import type { Database } from '../db/open.ts';
import { rowsOf } from '../db/rows.ts';
import type { Stages } from '../kernel/stages.ts';
import { Refusal, Rehearsed } from '../kernel/reply.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { effectivePermissions, type Effective } from './effective.ts';
import { loadStandings, nobody } from './grants.ts';
import { activeRolesOf, grantsOfEach } from './grants-of-many.ts';
import { difference, MOST_REACHED, type Affected, type Impact } from './impact.ts';
import { listed, reachOf, type Reached } from './reach.ts';

/**
 * The dry run: the change is made, with every check that it makes, and taken back. Rights are read with the change and
 * without it, in the one transaction and by the functions that decisions use; what differs is the answer. No operation
 * knows of it, so none can forget a check.
 *
 * The change comes first because only it knows whom it touches. Nothing is recorded or announced meanwhile: the lock
 * of the tenant's node, for which all of its changes wait, is not taken for what only asks.
 */
export function createRehearsal(
  database: Pick<Database, 'transaction'>,
  nouns: ReadonlySet<string>,
): Stages['rehearse'] {
  return (op, { scope, targetId: id, notes }, change) =>
    database.transaction(async (tx) => {
      const { answer, reached, after } = await takenBack(tx, async (inner) => {
        const made = await change(inner);
        if (made instanceof Refusal) throw made.error;
        const named = (kind: string) =>
          [...notes.topics]
            .filter((topic) => topic.startsWith(kind))
            .map((topic) => topic.slice(kind.length));
        const touched = { userIds: named('user:'), keyIds: named('credential:') };
        const all = await reachOf(inner, scope, { noun: op.target?.name, id, ...touched });
        return {
          answer: made,
          reached: all,
          after: await rightsOf(inner, all.slice(0, MOST_REACHED), nouns),
        };
      });
      const before = await rightsOf(tx, reached.slice(0, after.length), nouns);
      const near = reached.slice(0, before.length);
      const affected = near.flatMap((one, at) => affectedBy(one, before[at] ?? [], after[at] ?? []));
      const impact: Impact = { dryRun: true, affected, truncated: reached.length > near.length };
      return new Rehearsed(answer, impact);
    });
}

/** Does the work in a savepoint, and leaves no trace of it. */
async function takenBack<T>(tx: Executor, work: (inner: Executor) => Promise<T>): Promise<T> {
  let result: T | undefined;
  try {
    await tx.transaction(async (inner) => {
      result = await work(inner);
      inner.rollback();
    });
  } catch (error) {
    if (!(error instanceof TransactionRollbackError)) throw error;
  }
  return result as T;
}

/** The most paths that one dry run compares: about a second of work, which yields to other requests. */
const MAX_COMPARED = 200_000;

/**
 * What the first subjects hold in their scopes, as this transaction sees it: as many as can be compared, but at least
 * one.
 */
async function rightsOf(
  tx: Executor,
  reached: readonly Reached[],
  nouns: ReadonlySet<string>,
): Promise<Effective[][]> {
  const standings = await loadStandings(tx, reached);
  const keys = await liveKeys(
    tx,
    reached.flatMap(({ type, id }) => (type === 'apiKey' ? [id] : [])),
  );
  const holders = reached.map(({ type, id, scope }, at) => {
    const standing = standings[at] ?? nobody;
    const key = keys.get(id);
    const asUser = type === 'user' || key?.asUser === true;
    return { scope, standing, roleIds: asUser ? activeRolesOf(standing) : key?.roleId ? [key.roleId] : [] };
  });
  const rights: Effective[][] = [];
  let compared = 0;
  for await (const { grants, paths } of grantsOfEach(tx, holders, nouns)) {
    compared += paths;
    if (rights.length > 0 && compared > MAX_COMPARED) break;
    rights.push(effectivePermissions(grants));
    await othersFirst();
  }
  return rights;
}

interface KeyRow {
  readonly id: string;
  readonly roleId: string | null;
  /** Holds what its user holds, and no role of its own. */
  readonly asUser: boolean;
}

/** Keys whose tokens are good, by id; that one acts for a user who may not is told by his standing. */
async function liveKeys(tx: Executor, ids: readonly string[]): Promise<ReadonlyMap<string, KeyRow>> {
  if (ids.length === 0) return new Map();
  const rows = await rowsOf<KeyRow>(
    tx,
    sql`
    select id, role_id as "roleId", scope_tenant = 'ProjectUser' as "asUser" from api_keys
    where id in ${listed(ids)} and revoked_at is null and deleted_at is null
      and (expires_at is null or expires_at > now())`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

function affectedBy(
  { type, id, scope: { tenant, id: scopeId } }: Reached,
  before: readonly Effective[],
  after: readonly Effective[],
): Affected[] {
  const what = difference(before, after);
  if (what.gains.length + what.loses.length + what.changes.length === 0) return [];
  return [{ subject: { type, id }, scope: { tenant, id: scopeId }, ...what }];
}
