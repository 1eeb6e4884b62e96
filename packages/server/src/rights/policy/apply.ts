import type { PolicyDocument } from '@doorward/decision/document/document';
import { assertRecentSignIn } from '../../access/guard.ts';
import { assignmentsOf, countsText } from '../roles/assigned-roles.ts';
import { skipConsentFix } from '../../apps/settings/first-party.ts';
import { fail, type Code, type Detail } from '../../errors.ts';
import { lockChainHeads } from '../../events/audit/chain-heads.ts';
import { actorOf } from '../../events/record.ts';
import { fixOf } from '../../kernel/input/fix.ts';
import { callerOf, type Call, type Principal } from '../../kernel/context.ts';
import type { Services } from '../../services.ts';
import type { CallerRights } from '../../kernel/call/caller-rights.ts';
import type { Recording } from '../../kernel/event.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import type { RowOf } from '../../kernel/entity.ts';
import { assertChecked } from './kinds/addresses.ts';
import { lockSignUpRoles, secretsOfApps, settleApps } from './kinds/apps.ts';
import { settleWebhooks } from './kinds/webhooks.ts';
import type { NewSecret } from './outputs.ts';
import { obstacleCodes, planOf, type Obstacle, type Plan, type Proposal } from './plan.ts';
import { PolicyVersion, type Counts, type Source } from '../../schema/rights/policy-version.ts';
import { storeVersion } from './policy-versions.ts';
import { readAnswers, recordingsOf } from './record.ts';
import { loadState } from './document/state.ts';
import { write, type WrittenChange } from './write.ts';

/** A document to apply, with the other inputs of the caller. */
interface Application extends Proposal {
  /** The addresses in the document that the service may call; they were checked before the transaction. */
  readonly addresses: ReadonlySet<string>;
  readonly ifVersion: string | null;
  readonly planHash?: string | undefined;
  readonly message?: string | undefined;
  readonly source?: Source | undefined;
  readonly rollbackOf?: number;
}

interface ApplyContext {
  readonly tx: Executor;
  readonly db: ScopedDb;
  readonly scope: ResolvedScope;
  readonly rights: CallerRights;
  readonly principal: Principal | null;
  readonly call: Pick<Call, 'work'>;
  readonly services: Services;
  readonly record: (recording: Recording) => void;
  readonly unchanged: () => void;
  readonly invalidate: (...topics: string[]) => void;
  readonly afterCommit: (work: () => void) => void;
}

interface Applied {
  readonly version: string;
  readonly applied: RowOf<typeof PolicyVersion> | null;
  readonly secrets: NewSecret[];
}

/**
 * Changes the rows to what the document says, all or nothing. The lock on the project's node makes this wait for every
 * other change of the project, so no row changes between the comparison and the write.
 */
export async function apply(ctx: ApplyContext, application: Application): Promise<Applied> {
  const { tx, scope, services } = ctx;
  await lockChainHeads(tx, [scope.nodeId]);
  const plan = await planOf(ctx, application);
  assertSamePlan(plan, application);
  assertNoObstacle(plan.blocked);
  assertChecked(plan.comparison, application.addresses);
  assertTestsPass(plan, application.document);
  if (plan.selfLockout) assertMayLeave(callerOf(ctx), services);
  const { comparison, documentDiffers } = plan;
  if (comparison.changes.length === 0 && !documentDiffers) {
    ctx.unchanged();
    return { version: plan.version, applied: null, secrets: [] };
  }
  await lockSignUpRoles(ctx, comparison);
  const at = { scope, now: services.clock.now() };
  const before = await readAnswers(tx, at, comparison.changes);
  const written = await write(tx, scope.nodeId, comparison, writerOf(ctx));
  await assertStillUnassigned(ctx, written);
  const secrets = [
    ...(await secretsOfApps(ctx, comparison, written)),
    ...(await settleWebhooks(ctx, written)),
  ];
  const after = await readAnswers(tx, at, written);
  const { version } = await loadState(tx, scope.nodeId, services.builtIns);
  const applied = await storeApplied(ctx, application, plan, version);
  const { number, counts, documentHash, source } = applied;
  ctx.record({
    event: 'policy.applied',
    data: applied,
    target: { type: 'Project', id: scope.nodeId },
    metadata: { number, counts, documentHash, source },
  });
  for (const recording of recordingsOf(written, before, after)) ctx.record(recording);
  await settleApps(ctx, written);
  return { version, applied, secrets };
}

/** What `write` needs besides the comparison: the built-in rows, a source of ids, and the creator of new rows. */
export const writerOf = (ctx: Pick<ApplyContext, 'principal' | 'services'>) => ({
  builtIns: ctx.services.builtIns,
  ids: ctx.services.ids,
  userId: callerOf(ctx).userId,
});

function assertSamePlan({ version, number, planHash }: Plan, asked: Application): void {
  const changed = (path: string, fix: string) =>
    fail('CONFLICT', { details: [{ path, code: 'changed' }], fix });
  const isExpected = asked.ifVersion === null ? number === null : asked.ifVersion === version;
  if (!isExpected)
    throw changed(
      'ifVersion',
      'The project has changed since: plan again, and pass the version of the plan.',
    );
  if (asked.planHash !== undefined && asked.planHash !== planHash)
    throw changed('planHash', 'This is another plan: plan again, and look at its changes.');
}

const refusals = {
  FORBIDDEN: {
    detail: 'not_allowed',
    fix: 'Ask an administrator of the project for a role that may change these rows.',
  },
  PRIVILEGE_ESCALATION: { detail: 'permission', fix: undefined },
  SESSION_REQUIRED: { detail: 'not_allowed', fix: undefined },
  STEP_UP_REQUIRED: { detail: 'not_allowed', fix: undefined },
  DELETION_NOT_ALLOWED: {
    detail: 'not_allowed',
    fix: 'To delete what the document lacks, pass `allowDelete` (`--allow-delete` on the command line). For a protected row, first apply a document without `protect`.',
  },
  IN_USE: { detail: 'in_use', fix: undefined },
} as const;

function assertNoObstacle(blocked: readonly Obstacle[]): void {
  const code = obstacleCodes.find((candidate) => blocked.some((obstacle) => obstacle.code === candidate));
  if (code === undefined) return;
  const { detail, fix: usual } = refusals[code];
  const same = blocked.filter((obstacle) => obstacle.code === code);
  // The caller may lack the same permission for several rows, so each path is listed once.
  const paths = [...new Map(same.map((obstacle) => [pathOf(obstacle), obstacle]))].slice(0, 20);
  const details = paths.map(([path]): Detail => ({ path, code: detail }));
  const fix =
    code === 'IN_USE'
      ? fixOf(
          paths.map(([path, obstacle]) => ({ path, hint: removalOf(obstacle) })),
          details.length,
        )
      : same.every(({ cause }) => cause === 'firstParty')
        ? skipConsentFix
        : usual;
  throw fail(code satisfies Code, { details, ...(fix === undefined ? {} : { fix }) });
}

function pathOf({ kind, key, code, cause }: Obstacle): string {
  if (code === 'PRIVILEGE_ESCALATION') return cause ?? '';
  return cause === 'firstParty' ? `policy.${kind}.${key}.firstParty` : `policy.${kind}.${key}`;
}

/** Says what to do before a row that is in use can be deleted. */
const removalOf = ({ kind, cause }: Obstacle): string =>
  kind === 'roles' ? `remove the role first from: ${cause}` : `first delete the permission ${cause}`;

function assertTestsPass({ tests }: Plan, { tests: declared }: PolicyDocument): void {
  const failed = new Set(tests.filter(({ passed }) => !passed).map(({ name }) => name));
  if (failed.size === 0) return;
  const details = declared.flatMap(({ name }, index): Detail[] =>
    failed.has(name) ? [{ path: `policy.tests.${index}`, code: 'test' }] : [],
  );
  throw fail('POLICY_TEST_FAILED', {
    details: details.slice(0, 20),
    fix: 'A plan shows the decision of each test.',
  });
}

/**
 * Asserts that no deleted role is assigned: another tenant, such as a customer, may have assigned it since the plan.
 * The rows are deleted now, and each assignment takes a share lock on its role first, so no new assignment can follow.
 *
 * @throws IN_USE
 */
async function assertStillUnassigned(
  { tx, services }: ApplyContext,
  written: readonly WrittenChange[],
): Promise<void> {
  const deleted = written.filter(({ kind, action }) => kind === 'roles' && action === 'delete');
  const ids = deleted.map(({ id }) => id);
  const assigned = await assignmentsOf(tx, ids, services.clock.now());
  assertNoObstacle(
    deleted.flatMap(({ kind, key, id }): Obstacle[] => {
      const counts = assigned.get(id);
      return counts ? [{ kind, key, code: 'IN_USE', cause: countsText(counts) }] : [];
    }),
  );
}

/**
 * Asserts that the caller is a person with a recent sign-in. Only such a caller may take the permission to apply
 * policies away from themselves.
 */
function assertMayLeave(principal: Principal, { config, clock }: Services): void {
  if (principal.type !== 'session') throw fail('STEP_UP_REQUIRED');
  assertRecentSignIn(principal, config.auth.stepUpMaxAgeMinutes, clock.now());
}

async function storeApplied(
  ctx: ApplyContext,
  { document, message, source, rollbackOf }: Application,
  { comparison: { changes }, number, documentHash }: Plan,
  version: string,
): Promise<RowOf<typeof PolicyVersion>> {
  const { tx, db, scope, services, principal } = ctx;
  const counted = (...actions: readonly string[]): number =>
    changes.filter(({ action }) => actions.includes(action)).length;
  const counts: Counts = {
    created: counted('create'),
    updated: counted('update', 'adopt', 'rename'),
    deleted: counted('delete'),
  };
  const { type, id: actorId, userId, impersonator } = actorOf(principal);
  const id = services.ids.next();
  const row = {
    id,
    tenantId: scope.nodeId,
    number: (number ?? 0) + 1,
    version,
    createdBy: { type, id: actorId, userId, impersonatorId: impersonator?.id ?? null },
    message: message ?? null,
    source: source ?? null,
    counts,
    rollbackOf: rollbackOf ?? null,
    documentHash,
  };
  await storeVersion(tx, row, document);
  return db.get(PolicyVersion, id);
}
