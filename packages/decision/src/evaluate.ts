/*
 * The decision (authorization §6): answers a question about a subject in a scope, with the reason.
 *
 * Pure: no I/O, no clock, and arguments are never changed. The default is deny, and permissions only add: an additional
 * permission never turns an allowed question into a refusal. `indexPermissions` indexes the permissions and compiles
 * their conditions once; each question is then two map lookups.
 */

import { compileCondition } from './conditions.ts';
import type { CompiledCondition, Condition, Values } from './conditions.ts';
import { isPlainObject } from './conditions-parse.ts';
import { Lists } from './lists.ts';
import { invalidScope, noPermission, scopeNotConsented, subjectInactive } from './reasons.ts';
import type { DecisionReason } from './reasons.ts';
import { unlimited, type Charged } from './work.ts';

/** A permission on one path: a role that the subject has, and a group of that role that contains the permission. */
export interface HeldPermission {
  readonly permission: {
    readonly id: string;
    readonly name: string;
    /** Slug of the resource, or the noun of a built-in one, such as `ApiKey`. */
    readonly resource: string;
    readonly action: string;
    /** True if the resource is built-in, even if a customer created the permission. */
    readonly managementPlane: boolean;
  };
  /** The condition as stored. A condition that does not parse is never met. */
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
  /**
   * outside: the scope is unknown, belongs to another tenant, or is not the scope that the credential is bound to.
   * inactive: the user or key is disabled or revoked, or the tenant is suspended.
   */
  readonly membership: 'outside' | 'inactive' | 'active';
  /** Consented scopes (`slug:action` or `Noun:Action`) of an app token; absent if the token is not restricted. */
  readonly consented?: ReadonlySet<string>;
  /** True for an unrestricted app token: only project-plane permissions count. */
  readonly projectPlaneOnly?: boolean;
  /** Attributes for conditions; null if the subject has none. */
  readonly user: Record<string, unknown> | null;
  readonly scope: Record<string, unknown>;
  /** A project's organization: its id and metadata; in a granted scope, the customer's id and the grant's metadata. */
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
 * A decision with the reason ALLOWED, ALLOWED_BY_CONDITION or CONDITION_NOT_MET names the permission; with the latter
 * two, it also contains the permission's condition and the attributes that the condition read. If several permissions
 * match, the decision names the first unconditional permission, else the first whose condition is met, else the first
 * of all, in the order given to `indexPermissions`.
 */
export interface Decision {
  readonly authorized: boolean;
  readonly reason: DecisionReason;
  readonly matchedPermission?: MatchedPermission;
  readonly matchedCondition?: Condition;
  readonly evaluatedContext?: Record<string, unknown>;
}

/** A conditional permission on one path of the subject. */
export interface Candidate {
  readonly permission: MatchedPermission;
  readonly condition: unknown;
  /** The condition for use in a decision; undefined if the stored value is not an object. */
  readonly reportedCondition: Condition | undefined;
  readonly compiled: CompiledCondition;
  readonly role: GrantSource;
  readonly group: GrantSource;
}

/** All permissions that the subject holds for one resource and action. */
export interface Candidates {
  /** The decision by the first unconditional permission, if there is one. */
  readonly allowed: Decision | undefined;
  /** The conditional permissions. Of several paths that the condition cannot tell apart, only the first is kept. */
  readonly conditional: readonly Candidate[];
}

type Plane = ReadonlyMap<string, ReadonlyMap<string, Candidates>>;

/** The permissions of a subject, by plane, resource and action. */
export interface PermissionIndex {
  readonly managementNouns: ReadonlySet<string>;
  readonly management: Plane;
  readonly project: Plane;
}

/** The names by which `locate` recognizes a resource: nouns of built-in resources, and slugs of the project. */
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

/** Indexing a path takes about as long as this many comparisons. */
const INDEX_STEPS = 10;

/** Indexes permissions and compiles their conditions. `managementNouns`: all built-in resources, such as `ApiKey`. */
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

/** Returns an index that contains only one resource and action of the management plane. */
export function onlyManagement(index: PermissionIndex, resource: string, action: string): PermissionIndex {
  const candidates = index.management.get(resource)?.get(action.toLowerCase());
  const management: Plane = new Map(
    candidates && [[resource, new Map([[action.toLowerCase(), candidates]])]],
  );
  return { managementNouns: index.managementNouns, management, project: new Map() };
}

/**
 * Decides a question. Every decision has a reason; it is authorized only with ALLOWED and ALLOWED_BY_CONDITION.
 *
 * @example evaluate(grants, { resource: 'invoice', action: 'read', attributes: row }).reason // 'ALLOWED'
 * @throws WorkExceeded if the steps exceed the budget of `work`
 */
export function evaluate(grants: Grants, question: Question, work: Charged = unlimited): Decision {
  const target = locate(grants.held, question.resource, question.action);
  const candidates = selectCandidates(grants, question, target);
  if ('reason' in candidates) return candidates;
  return candidates.allowed ?? decideByConditions(grants, question.attributes, candidates.conditional, work);
}

/**
 * Returns the decision of `evaluate` if it depends on no condition (a refusal or ALLOWED), else 'conditional'. Guards
 * call this function before they load the row with the attributes, so that they can refuse without loading it.
 */
export function evaluateWithoutConditions(grants: Grants, question: Question): Decision | 'conditional' {
  const target = locate(grants.held, question.resource, question.action);
  const candidates = selectCandidates(grants, question, target);
  if ('reason' in candidates) return candidates;
  return candidates.allowed ?? 'conditional';
}

/**
 * Finds the plane of a resource and action, and their spelling in the index (authorization §2). Only the exact spelling
 * of a noun means the built-in resource: `Project` is on the management plane, `project` and ` PROJECT ` are slugs.
 */
export function locate(names: Names, resource: string, action: string): Target {
  if (names.managementNouns.has(resource)) {
    return { management: true, resource, action: action.toLowerCase() };
  }
  // `names.project` contains normalized slugs. Most questions already use these, and need no normalization.
  const slug = names.project.has(resource) ? resource : resource.trim().toLowerCase();
  return { management: false, resource: slug, action: action.trim().toLowerCase() };
}

/**
 * Whether the scopes of an app token allow a resource and action: always if the token is not restricted, else if a
 * scope names the same resource and action on the same plane. Ignores the permissions of the user.
 */
export function consents(
  { consented, held }: Pick<Grants, 'consented'> & { readonly held: Names },
  resource: string,
  action: string,
  target: Target,
): boolean {
  if (consented === undefined || consented.has(`${resource}:${action}`)) return true;
  // The question may be spelled differently (` Invoice`, `ApiKey:revoke`). A token has at most 100 scopes.
  for (const scope of consented) {
    const colon = scope.indexOf(':');
    const located = locate(held, scope.slice(0, colon), scope.slice(colon + 1));
    const isSamePair = located.resource === target.resource && located.action === target.action;
    if (colon > 0 && isSamePair && located.management === target.management) return true;
  }
  return false;
}

/** Returns the subject's permissions for a target, conditions met or not; undefined if there are none. */
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
  /** Per condition, the identities of the paths that `conditional` already contains. Undefined while it is empty. */
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
  // A hundred paths to one permission make one candidate, unless its condition reads the role or group of the path.
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

/** Keeps only the attributes that conditions may read (authorization §7.1), even if the loader passes whole rows. */
function attributesOf({ id, name, metadata }: GrantSource): GrantSource {
  return { id, name, metadata };
}

/** Checks in the order of the contract: the subject, then the scopes of the token, then the subject's permissions. */
function selectCandidates(grants: Grants, question: Question, target: Target): Decision | Candidates {
  if (grants.membership === 'outside') return invalidScope;
  if (grants.membership !== 'active') return subjectInactive;
  if (!consents(grants, question.resource, question.action, target)) return scopeNotConsented;
  return candidatesFor(grants, target) ?? noPermission;
}

/** Decides by the first candidate whose condition is met, else by the first. Linear in the candidates and lists. */
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
  // Two literals, because on the hot path a spread would cost as much as the whole decision.
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
