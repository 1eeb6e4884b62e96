import { compileCondition } from './conditions.ts';
import type { CompiledCondition, Condition, Values } from './conditions.ts';
import { isPlainObject } from './conditions-parse.ts';
import { Lists } from './lists.ts';
import { invalidScope, noPermission, scopeNotConsented, subjectInactive } from './reasons.ts';
import type { DecisionReason } from './reasons.ts';
import { unlimited, type Charged } from './work.ts';

/**
 * The decision (authorization §6): answers a question about a subject in a scope, with the reason.
 *
 * Pure: no I/O, no clock, and the arguments are never changed. The default is deny, and permissions only add: a subject
 * that holds more is never refused what it was allowed before. `indexPermissions` indexes the permissions and compiles
 * their conditions once; each question is then two map lookups.
 *
 * @example evaluate(grants, { resource: 'invoice', action: 'read', attributes: row }).reason // 'ALLOWED'
 */
export interface HeldPermission {
  readonly permission: {
    readonly id: string;
    readonly name: string;
    /** Slug of the resource. */
    readonly resource: string;
    readonly action: string;
    /** True if the resource is built-in, even if a customer created the permission. */
    readonly managementPlane: boolean;
  };
  /** As stored; a condition that does not parse is never met. */
  readonly condition: unknown;
  readonly role: GrantSource;
  readonly group: GrantSource;
}

/** A role or group on the path by which a permission is held. */
export interface GrantSource {
  readonly id: string;
  readonly name: string;
  readonly metadata: Record<string, unknown>;
}

/** Everything about the subject that a decision reads. */
export interface Grants {
  /** outside: the scope is foreign, unknown or not the pinned one. inactive: the user or key is disabled or ended. */
  readonly membership: 'outside' | 'inactive' | 'active';
  /** Consented scopes of a restricted app token (`slug:action` or `Noun:Action`); absent: not restricted. */
  readonly consented?: ReadonlySet<string>;
  /** Only project-plane permissions count (app token that is not restricted). */
  readonly projectPlaneOnly?: boolean;
  /** Attributes for conditions; null if the subject has none. */
  readonly user: Record<string, unknown> | null;
  readonly scope: Record<string, unknown>;
  /** The organization of a project: its id, and metadata that its members cannot set. Absent in other scopes. */
  readonly organization?: Record<string, unknown> | undefined;
  readonly held: PermissionIndex;
}

export interface Question {
  readonly resource: string;
  readonly action: string;
  /** Attributes of the resource, which conditions read under `resource`. */
  readonly attributes?: Record<string, unknown> | null;
}

/** The permission that matched a question. */
export interface MatchedPermission {
  readonly id: string;
  readonly name: string;
  readonly resource: string;
  readonly action: string;
}

/**
 * ALLOWED, ALLOWED_BY_CONDITION and CONDITION_NOT_MET carry the permission; the latter two also carry its condition and
 * context. Of several permissions, in the order given to `indexPermissions`, it is the first that is met, else the first.
 */
export interface Decision {
  readonly authorized: boolean;
  readonly reason: DecisionReason;
  readonly matchedPermission?: MatchedPermission;
  readonly matchedCondition?: Condition;
  readonly evaluatedContext?: Record<string, unknown>;
}

/** A conditional permission on one path. */
export interface Candidate {
  readonly permission: MatchedPermission;
  readonly condition: unknown;
  /** The condition as decisions report it; undefined if the stored value is not an object. */
  readonly reportedCondition: Condition | undefined;
  readonly compiled: CompiledCondition;
  readonly role: GrantSource;
  readonly group: GrantSource;
}

/** All permissions that the subject holds for one resource and action. */
export interface Candidates {
  /** The decision of the first unconditional permission, if there is one. */
  readonly allowed: Decision | undefined;
  /** The conditional paths; of several that the condition cannot distinguish, only the first. */
  readonly conditional: readonly Candidate[];
}

type Plane = ReadonlyMap<string, ReadonlyMap<string, Candidates>>;

/** The permissions of a subject, by plane, resource and action. */
export interface PermissionIndex {
  readonly managementNouns: ReadonlySet<string>;
  readonly management: Plane;
  readonly project: Plane;
}

/** The names that decide how a question is spelled: of built-in resources, and of the resources of a project. */
export interface Names {
  readonly managementNouns: { has(name: string): boolean };
  readonly project: { has(slug: string): boolean };
}

/** A resource and an action in the spelling of the index. */
export interface Target {
  readonly management: boolean;
  readonly resource: string;
  readonly action: string;
}

/** To index a path takes about as long as this many comparisons. */
const INDEX_STEPS = 10;

/** Indexes permissions and compiles their conditions. `managementNouns`: the slugs of all built-in resources (`ApiKey`). */
export function indexPermissions(
  held: readonly HeldPermission[],
  managementNouns: ReadonlySet<string>,
  work: Charged = unlimited,
): PermissionIndex {
  work.charge('paths', INDEX_STEPS * held.length);
  const management = new Map<string, Map<string, MutableCandidates>>();
  const project = new Map<string, Map<string, MutableCandidates>>();
  for (const heldPermission of held) {
    const plane = heldPermission.permission.managementPlane ? management : project;
    add(plane, heldPermission, compileCondition(heldPermission.condition));
  }
  return { managementNouns, management, project };
}

/** The part of an index for one resource and action of the management plane. */
export function onlyManagement(index: PermissionIndex, resource: string, action: string): PermissionIndex {
  const candidates = index.management.get(resource)?.get(action.toLowerCase());
  const management: Plane = new Map(
    candidates && [[resource, new Map([[action.toLowerCase(), candidates]])]],
  );
  return { managementNouns: index.managementNouns, management, project: new Map() };
}

/**
 * Guarantees a reason for every question; authorized only with ALLOWED and ALLOWED_BY_CONDITION.
 * @throws WorkExceeded if `work` is limited
 */
export function evaluate(grants: Grants, question: Question, work: Charged = unlimited): Decision {
  const target = locate(grants.held, question.resource, question.action);
  const candidates = selectCandidates(grants, question, target);
  if ('reason' in candidates) return candidates;
  return candidates.allowed ?? decideByConditions(grants, question.attributes, candidates.conditional, work);
}

/**
 * The decision of `evaluate` if it depends on no condition (a refusal or ALLOWED), else 'conditional'. A guard can refuse
 * with it before it loads the row whose attributes the conditions read.
 */
export function evaluateWithoutConditions(grants: Grants, question: Question): Decision | 'conditional' {
  const target = locate(grants.held, question.resource, question.action);
  const candidates = selectCandidates(grants, question, target);
  if ('reason' in candidates) return candidates;
  return candidates.allowed ?? 'conditional';
}

/**
 * The plane of a resource and action, and their spelling in the index (authorization §2). A built-in noun in its exact
 * spelling is never a customer's slug: `Project` means the management resource, `project` and ` PROJECT ` the customer's.
 */
export function locate(names: Names, resource: string, action: string): Target {
  if (names.managementNouns.has(resource)) {
    return { management: true, resource, action: action.toLowerCase() };
  }
  // The names are normalized slugs, and most questions use them: skip the normalization for those.
  const slug = names.project.has(resource) ? resource : resource.trim().toLowerCase();
  return { management: false, resource: slug, action: action.trim().toLowerCase() };
}

/**
 * Whether the scopes of an app token allow a resource and action: always if the token is not restricted, else if a scope
 * names the pair on its plane. Does not look at the permissions.
 */
export function consents(
  { consented, held }: Pick<Grants, 'consented'> & { readonly held: Names },
  resource: string,
  action: string,
  target: Target,
): boolean {
  if (consented === undefined || consented.has(`${resource}:${action}`)) return true;
  // The question may use another spelling than the scope (` Invoice`, `ApiKey:revoke`). A token has at most 100 scopes.
  for (const scope of consented) {
    const colon = scope.indexOf(':');
    const located = locate(held, scope.slice(0, colon), scope.slice(colon + 1));
    const isSamePair = located.resource === target.resource && located.action === target.action;
    if (colon > 0 && isSamePair && located.management === target.management) return true;
  }
  return false;
}

/** The permissions for a target, whether their conditions are met or not; undefined if there are none. */
export function candidatesFor(
  grants: Pick<Grants, 'held' | 'projectPlaneOnly'>,
  target: Target,
): Candidates | undefined {
  if (target.management && grants.projectPlaneOnly === true) return undefined;
  const plane = target.management ? grants.held.management : grants.held.project;
  return plane.get(target.resource)?.get(target.action);
}

interface MutableCandidates {
  allowed: Decision | undefined;
  readonly conditional: Candidate[];
  /** By condition: the identities of the paths that are already in `conditional`. Most pairs have none. */
  seen: Map<unknown, Set<string>> | undefined;
}

function add(
  plane: Map<string, Map<string, MutableCandidates>>,
  held: HeldPermission,
  compiled: CompiledCondition,
): void {
  const { id, name, resource, action } = held.permission;
  const actions = getOrSet(plane, resource, () => new Map<string, MutableCandidates>());
  const entry = getOrSet(actions, action.toLowerCase(), (): MutableCandidates => ({
    allowed: undefined,
    conditional: [],
    seen: undefined,
  }));
  const permission = Object.freeze({ id, name, resource, action });
  if (compiled.unconditional) {
    entry.allowed ??= Object.freeze({ authorized: true, reason: 'ALLOWED', matchedPermission: permission });
    return;
  }
  // A hundred groups with one permission are a hundred paths, but one candidate, unless its condition reads the group.
  const { readsRole, readsGroup } = compiled;
  const path = `${id} ${readsRole ? held.role.id : ''} ${readsGroup ? held.group.id : ''}`;
  const { condition } = held;
  const seen = getOrSet((entry.seen ??= new Map<unknown, Set<string>>()), condition, () => new Set());
  if (seen.has(path)) return;
  seen.add(path);
  const [role, group] = [attributesOf(held.role), attributesOf(held.group)];
  const reportedCondition = isPlainObject(condition) ? condition : undefined;
  entry.conditional.push({ permission, condition, reportedCondition, compiled, role, group });
}

function getOrSet<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const created = create();
  map.set(key, created);
  return created;
}

/** Exactly the attributes that conditions may read (authorization §7.1), even if the loader passes whole rows. */
function attributesOf({ id, name, metadata }: GrantSource): GrantSource {
  return { id, name, metadata };
}

/** Checks in the order of the contract: the subject, the scopes of its token, then its permissions. */
function selectCandidates(grants: Grants, question: Question, target: Target): Decision | Candidates {
  if (grants.membership === 'outside') return invalidScope;
  if (grants.membership !== 'active') return subjectInactive;
  if (!consents(grants, question.resource, question.action, target)) return scopeNotConsented;
  return candidatesFor(grants, target) ?? noPermission;
}

/** The first candidate that is met decides, else the first of all. Time is linear in the candidates and the lists. */
export function decideByConditions(
  { user, scope, organization }: Pick<Grants, 'user' | 'scope' | 'organization'>,
  resource: unknown,
  candidates: readonly Candidate[],
  work: Charged = unlimited,
): Decision {
  const lists = new Lists(work);
  let refused: Decision | undefined;
  for (const candidate of candidates) {
    const attributes = { user, role: candidate.role, group: candidate.group, organization, scope, resource };
    const values = candidate.compiled.read(attributes);
    if (candidate.compiled.truthOf(values, lists) === 'true') {
      return conditionalDecision(candidate, values, true, 'ALLOWED_BY_CONDITION');
    }
    refused ??= conditionalDecision(candidate, values, false, 'CONDITION_NOT_MET');
  }
  return refused ?? noPermission;
}

function conditionalDecision(
  { permission, reportedCondition, compiled }: Candidate,
  values: Values,
  authorized: boolean,
  reason: DecisionReason,
): Decision {
  const evaluatedContext = compiled.contextOf(values);
  // Two literals, because on the hot path a spread costs as much as the decision.
  return reportedCondition
    ? {
        authorized,
        reason,
        matchedPermission: permission,
        matchedCondition: reportedCondition,
        evaluatedContext,
      }
    : { authorized, reason, matchedPermission: permission, evaluatedContext };
}
