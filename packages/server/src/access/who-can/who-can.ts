import { setImmediate as nextTick } from 'node:timers/promises';
import {
  evaluate,
  indexPermissions,
  locate,
  type Decision,
  type Grants,
  type HeldPermission,
  type Names,
  type PermissionIndex,
  type Question,
  type Target,
} from '@doorward/decision/evaluate';
import type { RequestWork } from '../../kernel/request-work.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { activeRolesOf } from '../dry-run/grants-of-many.ts';
import { hasEffect, loadSubjects, organizationAttributes, scopeAttributes } from '../grants/grants.ts';
import { rolePathBatches, roleSetKey } from '../grants/role-path-batches.ts';
import { findHolders } from './holders.ts';

interface WhoCanPage {
  readonly items: readonly { readonly userId: string; readonly decision: Decision }[];
  /** The last user who was decided about; set if more users may follow. */
  readonly continueAfter: string | null;
  /** The page takes every transaction with a lower number into account. */
  readonly below: number;
}

interface WhoCanRequest {
  readonly tx: Executor;
  readonly scope: ResolvedScope;
  readonly question: Question;
  readonly names: Names & { readonly managementNouns: ReadonlySet<string> };
  /** The page begins after this user; null for the first page. */
  readonly after: string | null;
  /** The maximum number of users on the page. */
  readonly limit: number;
  /** The work of the whole request, which may ask for several pages. */
  readonly work: RequestWork;
}

/** The maximum number of users that a page decides about. */
const MAX_DECIDED = 5000;
/**
 * The maximum number of paths that a page reads, plus the steps of its decisions in the same unit: less than a second
 * of work.
 */
const MAX_WORK = 25_000;
/** How many users have their attributes, up to 16 KB each, in memory at the same time. */
const MAX_SUBJECTS = 500;
/** How much work is done between two ticks: about ten milliseconds. */
const WORK_PER_TICK = 500;
/** How many steps of a decision take about as long as reading a path. */
const STEPS_PER_UNIT = 100;

/**
 * Returns the users of a scope who currently have a permission. SQL selects the users who hold the permission at all,
 * and `evaluate` decides about each of them with the same permissions and attributes as a check of that user.
 *
 * A page ends early if the users have very many permissions, so that it does not take too long. It then says where to
 * continue.
 */
export async function whoCan(request: WhoCanRequest): Promise<WhoCanPage> {
  const { tx, scope, question, names, after, limit } = request;
  const target = locate(names, question.resource, question.action);
  const { userIds, below } = await findHolders(tx, scope, target, { after, limit: MAX_DECIDED + 1 });
  const decidable = userIds.slice(0, MAX_DECIDED);
  const items: { userId: string; decision: Decision }[] = [];
  const pageUntil = (userId: string | undefined): WhoCanPage => ({
    items,
    continueAfter: userId === undefined || userId === userIds.at(-1) ? null : userId,
    below,
  });
  let work = 0;
  // Starts small, because most pages are full after a few users.
  for (let start = 0, size = limit; start < decidable.length; start += size, size = MAX_SUBJECTS) {
    for await (const { userId, decision, spent } of decisionsOn(
      decidable.slice(start, start + size),
      request,
      target,
    )) {
      work += spent;
      if (decision?.authorized) items.push({ userId, decision });
      if (items.length === limit || work > MAX_WORK) return pageUntil(userId);
    }
  }
  return pageUntil(decidable.at(-1));
}

interface UserDecision {
  readonly userId: string;
  /** Undefined if the user may not act. */
  readonly decision: Decision | undefined;
  readonly spent: number;
}

async function* decisionsOn(
  userIds: readonly string[],
  { tx, scope, question, names: { managementNouns }, work }: WhoCanRequest,
  target: Target,
): AsyncGenerator<UserDecision> {
  const subjects = await loadSubjects(
    tx,
    userIds.map((userId) => ({ scope, userId })),
  );
  const rolesOfEach = subjects.map(activeRolesOf);
  const attributes = { organization: organizationAttributes(scope), scope: scopeAttributes(scope) };
  let sinceTick = 0;
  for await (const { from, to, paths, read } of rolePathBatches(tx, rolesOfEach)) {
    const indexOf = pairIndexes(paths.filter(isOfPair(target, scope)), managementNouns);
    let spent = read;
    for (let at = from; at < to; at++) {
      const [userId = '', roleIds = [], user = null] = [userIds[at], rolesOfEach[at], subjects[at]?.user];
      const grants: Grants = { membership: 'active', user, ...attributes, held: indexOf(roleIds) };
      const stepsBefore = work.spent;
      const decision = roleIds.length === 0 ? undefined : evaluate(grants, question, work);
      spent += 1 + Math.ceil((work.spent - stepsBefore) / STEPS_PER_UNIT);
      yield { userId, decision, spent };
      sinceTick += spent;
      spent = 0;
      if (sinceTick <= WORK_PER_TICK) continue;
      sinceTick = 0;
      await nextTick();
    }
  }
}

const isOfPair =
  ({ management, resource, action }: Target, scope: ResolvedScope) =>
  (path: HeldPermission): boolean =>
    path.permission.managementPlane === management &&
    path.permission.resource === resource &&
    path.permission.action.toLowerCase() === action &&
    hasEffect(path.permission, scope);

/**
 * Returns a function that builds the index of each set of roles once. An index keeps the order of the paths, which
 * determines the matched permission.
 */
function pairIndexes(
  paths: readonly HeldPermission[],
  nouns: ReadonlySet<string>,
): (roleIds: readonly string[]) => PermissionIndex {
  const indexes = new Map<string, PermissionIndex>();
  return (roleIds) => {
    const key = roleSetKey(roleIds);
    const existing = indexes.get(key);
    if (existing) return existing;
    const roles = new Set(roleIds);
    const made = indexPermissions(
      paths.filter(({ role }) => roles.has(role.id)),
      nouns,
    );
    indexes.set(key, made);
    return made;
  };
}
