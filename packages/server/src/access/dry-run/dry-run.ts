import { sql, TransactionRollbackError } from 'drizzle-orm';
import type { Database } from '../../db/connection/open.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { Principal } from '../../kernel/context.ts';
import type { CallerRights } from '../../kernel/call/caller-rights.ts';
import { createPauses } from '../../kernel/call/pauses.ts';
import type { Stages } from '../../kernel/stages.ts';
import { Refusal, DryRunResult } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { evaluateWithoutConditions } from '@doorward/decision/evaluate';
import type { Effective } from '../grants/effective.ts';
import { loadSubjects, unknownSubject } from '../grants/grants.ts';
import { comparablePermissions } from './comparable-permissions.ts';
import { activeRolesOf, grantsOfEach } from './grants-of-many.ts';
import { difference, MAX_AFFECTED, type Affected, type Impact } from './impact.ts';
import {
  idsIn,
  findAffectedSubjects,
  type AffectedSubject,
  type Changed,
  type CustomersSeen,
} from './affected-subjects.ts';

/**
 * A dry run makes the change, with all of its checks, and rolls it back. It reads the permissions with and without the
 * change, in the same transaction and with the functions that decisions use, and returns the difference. Operations
 * need no code for it, so none can omit a check.
 *
 * The change runs first, because it determines the affected subjects. A dry run records no audit entry and no event, so
 * it does not take the lock of the tenant node, which all changes of the tenant wait for.
 */
export function createDryRun(
  database: Pick<Database, 'transaction'>,
  nouns: ReadonlySet<string>,
): Stages['dryRun'] {
  return (op, { principal, rights, scope, targetId: id, notes }, change) =>
    database.transaction(async (tx) => {
      const { answer, impact } = await impactOf(tx, { principal, rights, scope }, nouns, async (inner) => {
        const result = await change(inner);
        if (result instanceof Refusal) throw result.error;
        const idsOf = (prefix: string) =>
          [...notes.topics]
            .filter((topic) => topic.startsWith(prefix))
            .map((topic) => topic.slice(prefix.length));
        const invalidated = { userIds: idsOf('user:'), keyIds: idsOf('credential:') };
        return { answer: result, changed: { noun: op.target?.name, id, ...invalidated } };
      });
      return new DryRunResult(answer, impact);
    });
}

/** Makes a change in a transaction, rolls it back, and returns whose permissions it would affect. */
export async function impactOf<T>(
  tx: Executor,
  { principal, rights, scope }: Pick<Parameters<Stages['dryRun']>[1], 'principal' | 'rights' | 'scope'>,
  nouns: ReadonlySet<string>,
  change: (inner: Executor) => Promise<{ readonly answer: T; readonly changed: Changed }>,
): Promise<{ readonly answer: T; readonly impact: Impact }> {
  const { answer, subjects, after } = await inRolledBackSavepoint(tx, async (inner) => {
    const result = await change(inner);
    const all = await findAffectedSubjects(inner, scope, result.changed, customersSeenBy(principal, rights));
    return {
      answer: result.answer,
      subjects: all,
      after: await permissionsOfEach(inner, all.slice(0, MAX_AFFECTED), nouns),
    };
  });
  const before = await permissionsOfEach(tx, subjects.slice(0, after.length), nouns);
  const compared = subjects.slice(0, before.length);
  const affected: Affected[] = [];
  const pause = createPauses();
  for (const [index, subject] of compared.entries()) {
    affected.push(...affectedBy(subject, before[index] ?? [], after[index] ?? []));
    await pause();
  }
  return { answer, impact: { dryRun: true, affected, truncated: subjects.length > compared.length } };
}

/**
 * Decides in which slices of the project the caller may see the users with roles, by the same rule as
 * `projectGrantUsers`.
 */
function customersSeenBy(principal: Principal | null, rights: CallerRights | undefined): CustomersSeen {
  const holds = (resource: string): boolean => {
    const decision = rights && evaluateWithoutConditions(rights.grants, { resource, action: 'Query' });
    return decision !== undefined && decision !== 'conditional' && decision.authorized;
  };
  if (!holds('ProjectGrant') || !holds('User')) return 'none';
  return principal?.impersonator ? 'withSupportAccess' : 'all';
}

/** Runs the work in a savepoint and rolls it back. */
async function inRolledBackSavepoint<T>(tx: Executor, work: (inner: Executor) => Promise<T>): Promise<T> {
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

/** The maximum number of paths that one dry run compares: about a second of work, with pauses for other requests. */
const MAX_COMPARED_PATHS = 200_000;

/**
 * Loads the permissions of the subjects in their scopes, as this transaction sees them. Returns as many, from the first
 * on, as can be compared within the limit, but at least one.
 */
async function permissionsOfEach(
  tx: Executor,
  affected: readonly AffectedSubject[],
  nouns: ReadonlySet<string>,
): Promise<(readonly Effective[])[]> {
  const subjects = await loadSubjects(tx, affected);
  const keys = await liveKeys(
    tx,
    affected.flatMap(({ type, id }) => (type === 'apiKey' ? [id] : [])),
  );
  const holders = affected.map(({ type, id, scope }, index) => {
    const subject = subjects[index] ?? unknownSubject;
    const key = keys.get(id);
    const asUser = type === 'user' || key?.asUser === true;
    return { scope, subject, roleIds: asUser ? activeRolesOf(subject) : key?.roleId ? [key.roleId] : [] };
  });
  const permissions: (readonly Effective[])[] = [];
  const listOf = comparablePermissions();
  const pause = createPauses();
  let compared = 0;
  for await (const { grants, paths } of grantsOfEach(tx, holders, nouns)) {
    compared += paths;
    if (permissions.length > 0 && compared > MAX_COMPARED_PATHS) break;
    // One pause after the indexing, and one after the digests.
    await pause();
    permissions.push(listOf(grants));
    await pause();
  }
  return permissions;
}

interface KeyRow {
  readonly id: string;
  readonly roleId: string | null;
  /** Whether the key has the permissions of its user instead of a role. */
  readonly asUser: boolean;
}

/**
 * The keys that are not revoked, deleted or expired, by id. Whether the user of a key may act is checked by the status
 * of that user.
 */
async function liveKeys(tx: Executor, ids: readonly string[]): Promise<ReadonlyMap<string, KeyRow>> {
  if (ids.length === 0) return new Map();
  const rows = await rowsOf<KeyRow>(
    tx,
    sql`
    select id, role_id as "roleId", scope_tenant in ('ProjectUser', 'Organization', 'Account') as "asUser" from api_keys
    where id in ${idsIn(ids)} and revoked_at is null and deleted_at is null
      and (expires_at is null or expires_at > now())`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

function affectedBy(
  { type, id, scope: { tenant, id: scopeId } }: AffectedSubject,
  before: readonly Effective[],
  after: readonly Effective[],
): Affected[] {
  const changes = difference(before, after);
  if (changes.gains.length + changes.loses.length + changes.changes.length === 0) return [];
  return [{ subject: { type, id }, scope: { tenant, id: scopeId }, ...changes }];
}
