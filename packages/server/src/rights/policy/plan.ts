import { DocumentRights } from '@doorward/decision/document/document-rights';
import type { DocumentKind, PolicyDocument } from '@doorward/decision/document/document';
import { createHash } from 'node:crypto';
import { assignmentsOf, countsText } from '../roles/assigned-roles.ts';
import { canonicalJson } from '../../kernel/output/canonical-json.ts';
import type { Call, Principal } from '../../kernel/context.ts';
import type { Services } from '../../services.ts';
import type { CallerRights } from '../../kernel/call/caller-rights.ts';
import { createPauses } from '../../kernel/call/pauses.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { FormerKeys } from './document/document.ts';
import { compare, type Comparison } from './document/match.ts';
import { appObstacles } from './kinds/app-rights.ts';
import { assertAppsConsistent } from './kinds/apps.ts';
import { lastVersion } from './policy-versions.ts';
import { deniedChanges, locksItselfOut, memoized } from './rights.ts';
import type { Examination } from './examination.ts';
import { loadState } from './document/state.ts';

/** A caller's document, the findings about it, and whether applying it may delete rows. */
export interface Proposal {
  readonly document: PolicyDocument;
  readonly formerKeys: FormerKeys;
  readonly allowDelete: boolean;
  readonly examination: Examination;
}

/** Why a change cannot be made. An error reports the first of these codes that applies. */
export const obstacleCodes = [
  'FORBIDDEN',
  'PRIVILEGE_ESCALATION',
  'SESSION_REQUIRED',
  'STEP_UP_REQUIRED',
  'DELETION_NOT_ALLOWED',
  'IN_USE',
] as const;
type ObstacleCode = (typeof obstacleCodes)[number];

/** A change that cannot be made, or not by this caller. */
export interface Obstacle {
  readonly kind: DocumentKind;
  readonly key: string;
  readonly code: ObstacleCode;
  /** The permission that the caller lacks, or what prevents the change. */
  readonly cause: string | null;
}

/** The effects of a document, without the users and keys whose rights it would change. */
export interface Plan extends Examination {
  readonly comparison: Comparison;
  readonly version: string;
  readonly planHash: string;
  readonly documentHash: string;
  readonly number: number | null;
  /** Whether the last applied document had other tests or another mode, which no row shows. */
  readonly documentDiffers: boolean;
  readonly blocked: readonly Obstacle[];
  readonly drift: readonly Drift[];
  readonly selfLockout: boolean;
}

/** A managed row that was changed or deleted by hand since the last document was applied. */
interface Drift {
  readonly kind: DocumentKind;
  readonly key: string;
  readonly fields: Comparison['changes'][number]['fields'];
}

interface PlanContext {
  readonly tx: Executor;
  readonly scope: ResolvedScope;
  readonly rights: CallerRights;
  readonly principal: Principal | null;
  readonly call: Pick<Call, 'work'>;
  readonly services: Pick<Services, 'builtIns' | 'clock' | 'config' | 'identityProviders'>;
}

const hashOf = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex');

/** Reads the rows and compares them with the document. Changes nothing. */
export async function planOf(ctx: PlanContext, proposal: Proposal): Promise<Plan> {
  const { tx, scope, rights, services, call } = ctx;
  const { document, formerKeys } = proposal;
  const { builtIns } = services;
  const state = await loadState(tx, scope.nodeId, services.builtIns);
  const last = await lastVersion(tx, scope.nodeId);
  const pause = createPauses();
  await pause();
  const comparison = compare(state, builtIns, document, formerKeys);
  await pause();
  assertAppsConsistent(document, comparison, services);
  const documentHash = hashOf(document);
  const changes = comparison.changes.map(({ kind, key, action, fields }) => ({ kind, key, action, fields }));
  const { before, after } = comparison.all;
  const planHash = hashOf({ documentHash, version: state.version, changes });
  await pause();
  const rightsBefore = new DocumentRights(before, call.work);
  const rightsAfter = new DocumentRights(after, call.work);
  return {
    ...proposal.examination,
    comparison,
    version: state.version,
    documentHash,
    planHash,
    number: last?.number ?? null,
    documentDiffers: withoutRows(document) !== withoutRows(last?.document ?? { mode: 'warn', tests: [] }),
    blocked: [
      ...deniedChanges(comparison, scope, rights, call.work),
      ...appObstacles(ctx, comparison),
      ...deletionsRefused(comparison, proposal),
      ...(await inUse(ctx, comparison)),
    ],
    drift: last ? driftOf(compare(state, builtIns, last.document)) : [],
    selfLockout: locksItselfOut(comparison, { before: rightsBefore, after: rightsAfter }, rights, builtIns),
  };
}

const withoutRows = ({ mode, tests }: Pick<PolicyDocument, 'mode' | 'tests'>): string =>
  canonicalJson({ mode, tests });

const driftOf = ({ changes }: Comparison): Drift[] =>
  changes
    .filter(({ action }) => action !== 'delete')
    // Drift is the change from the document to the rows, which is the opposite of the change that would undo it.
    .map(({ kind, key, fields }) => ({
      kind,
      key,
      fields: Object.fromEntries(
        Object.entries(fields).map(([name, { from, to }]) => [name, { from: to, to: from }]),
      ),
    }));

const deletionsRefused = ({ changes }: Comparison, { allowDelete }: Proposal): Obstacle[] =>
  changes
    .filter((change) => change.action === 'delete' && (change.protected || !allowDelete))
    .map(({ kind, key, ...change }) => ({
      kind,
      key,
      code: 'DELETION_NOT_ALLOWED',
      cause: change.protected ? 'protect' : 'allowDelete',
    }));

/** Finds roles to delete that are assigned, and resources and actions to remove that permissions still use. */
async function inUse({ tx, services }: PlanContext, { changes, all }: Comparison): Promise<Obstacle[]> {
  const roles = changes.filter(({ kind, action }) => kind === 'roles' && action === 'delete');
  const ids = roles.flatMap(({ id }) => id ?? []);
  const assigned = await assignmentsOf(tx, ids, services.clock.now());
  const used = Object.values(all.after.permissions);
  return changes.flatMap(({ kind, key, label, action, id }): Obstacle[] => {
    const inTheWay = (what: string): Obstacle[] => [{ kind, key, code: 'IN_USE', cause: what }];
    if (kind === 'roles' && action === 'delete') {
      // Counts only apps that still have this role after the document is applied.
      const apps = Object.values(all.after.apps).filter(({ signUpRole }) => signUpRole === label).length;
      const counts = countsText({ ...assigned.get(id ?? ''), apps });
      return counts === '' ? [] : inTheWay(counts);
    }
    if (kind !== 'resources') return [];
    const actions = all.after.resources[key]?.actions ?? [];
    const other = used.find(({ resource, action: name }) => resource === key && !actions.includes(name));
    return other ? inTheWay(`${other.resource}:${other.action}`) : [];
  });
}

/** Ids of the roles that are changed, or whose permissions differ between the two states. */
export function affectedRoles({ changes, all: { before, after }, rowOf }: Comparison): string[] {
  const changed = new Set(changes.flatMap(({ kind, label }) => (kind === 'roles' ? [label] : [])));
  const [was, is] = [rightsText(before), rightsText(after)];
  return Object.keys(before.roles)
    .filter((role) => changed.has(role) || was(role) !== is(role))
    .flatMap((role) => rowOf('roles', role)?.id ?? []);
}

/**
 * Returns a function whose text for a role differs if the paths of the role do. A thousand roles may share groups, and
 * groups may share conditions of several kilobytes, so each is hashed once.
 */
function rightsText(document: PolicyDocument): (role: string) => string {
  const rights = new DocumentRights(document);
  const hashOfCondition = memoized(hashOf);
  const hashOfGroup = memoized((group: string) => {
    const { all } = rights.groupRights(group);
    const held = all.map(({ permission, condition }) => [permission, hashOfCondition(condition)]);
    return all.length === 0 ? '' : hashOf([group, document.groups[group]?.metadata ?? {}, held]);
  });
  return (role) => {
    const { groups = [], metadata = {} } = document.roles[role] ?? {};
    const texts = groups.map(hashOfGroup).filter((hash) => hash !== '');
    return texts.length === 0 ? '' : [canonicalJson(metadata), ...texts].join(' ');
  };
}
