import type { DecisionReason } from '../errors.ts';
import { compileCondition } from './conditions.ts';
import type { CompiledCondition, Condition, Values } from './conditions.ts';
import { isPlainObject } from './conditions-parse.ts';

/**
 * The decision (authorization §6): what a subject holds in a scope, and a question, give an answer and its reason.
 *
 * Pure: no I/O, no clock, and the arguments are never changed. Default is deny; permissions only ever add, so holding
 * more never turns an allowed question into a refused one. What is held is indexed and its conditions are compiled
 * once (indexPermissions); each question is then two map lookups.
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
    /** True if the resource is built-in, whoever made the permission. */
    readonly managementPlane: boolean;
  };
  /** As stored; what does not parse is never met. */
  readonly condition: unknown;
  readonly role: Carrier;
  readonly group: Carrier;
}

/** A role or group on the path by which a permission is held. */
export interface Carrier {
  readonly id: string;
  readonly name: string;
  readonly metadata: Record<string, unknown>;
}

/** Everything about the subject that a decision reads. */
export interface Grants {
  /** outside: scope foreign, unknown or not the pinned one. inactive: user or key may not act (any more). */
  readonly standing: 'outside' | 'inactive' | 'active';
  /** Consented scopes of a restricted app token (`slug:action` or `Noun:Action`); absent = not restricted. */
  readonly consented?: ReadonlySet<string>;
  /** Only project-plane permissions count (app token that is not restricted). */
  readonly projectPlaneOnly?: boolean;
  /** Attributes for conditions; null for a subject without any. */
  readonly user: Record<string, unknown> | null;
  readonly scope: Record<string, unknown>;
  readonly held: PermissionIndex;
}

export interface Question {
  readonly resource: string;
  readonly action: string;
  /** The condition's `resource` root. */
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
 * The permission appears with ALLOWED, ALLOWED_BY_CONDITION and CONDITION_NOT_MET, condition and context only with the
 * latter two. Of several permissions it is the first met, else the first, in the order given to indexPermissions.
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
  /** The condition as decisions tell it; undefined if it is none that could be met. */
  readonly told: Condition | undefined;
  readonly compiled: CompiledCondition;
  readonly role: Carrier;
  readonly group: Carrier;
}

/** All that is held for one resource and action. */
export interface Candidates {
  /** The answer of the first unconditional permission, if there is one. */
  readonly allowed: Decision | undefined;
  /** Of several paths that the condition cannot tell apart, the first one. */
  readonly conditional: readonly Candidate[];
}

type Plane = ReadonlyMap<string, ReadonlyMap<string, Candidates>>;

/** What a subject holds, by plane, resource and action. */
export interface PermissionIndex {
  readonly managementNouns: ReadonlySet<string>;
  readonly management: Plane;
  readonly project: Plane;
}

/** Resource and action as they are looked up. */
export interface Target {
  readonly management: boolean;
  readonly resource: string;
  readonly action: string;
}

/** Compiles what is held. `managementNouns`: the slugs of all built-in resources (`ApiKey`), held or not. */
export function indexPermissions(
  held: readonly HeldPermission[],
  managementNouns: ReadonlySet<string>,
): PermissionIndex {
  const management = new Map<string, Map<string, MutableCandidates>>();
  const project = new Map<string, Map<string, MutableCandidates>>();
  for (const one of held) {
    const plane = one.permission.managementPlane ? management : project;
    add(plane, one, compileCondition(one.condition));
  }
  return { managementNouns, management, project };
}

/** The part of an index that concerns one pair of the management plane. */
export function onlyManagement(index: PermissionIndex, resource: string, action: string): PermissionIndex {
  const candidates = index.management.get(resource)?.get(action.toLowerCase());
  const management: Plane = new Map(
    candidates && [[resource, new Map([[action.toLowerCase(), candidates]])]],
  );
  return { managementNouns: index.managementNouns, management, project: new Map() };
}

/** Guarantees a reason for every question; authorized only with ALLOWED and ALLOWED_BY_CONDITION. */
export function evaluate(grants: Grants, question: Question): Decision {
  const target = locate(grants.held, question.resource, question.action);
  const candidates = select(grants, question, target);
  if ('reason' in candidates) return candidates;
  return candidates.allowed ?? decide(grants, question, candidates.conditional);
}

/**
 * The same decision as evaluate where no condition has a say (a refusal or ALLOWED), else 'conditional'. Lets a guard
 * refuse before it loads the row whose attributes the conditions need.
 */
export function preliminary(grants: Grants, question: Question): Decision | 'conditional' {
  const target = locate(grants.held, question.resource, question.action);
  const candidates = select(grants, question, target);
  if ('reason' in candidates) return candidates;
  return candidates.allowed ?? 'conditional';
}

/**
 * Which plane a pair is on, and how it is looked up there (§2). A built-in noun as written is never a customer's slug:
 * `Project` asks for the management resource alone, `project` and ` PROJECT ` for the customer's.
 */
export function locate(index: PermissionIndex, resource: string, action: string): Target {
  if (index.managementNouns.has(resource)) {
    return { management: true, resource, action: action.toLowerCase() };
  }
  // What is held is kept in its plain spelling, and most who ask write it so.
  const plain = index.project.has(resource) ? resource : resource.trim().toLowerCase();
  return { management: false, resource: plain, action: action.trim().toLowerCase() };
}

/**
 * Whether the scopes of an app token let it use a pair at all: always if it is not restricted, else if they name the
 * pair on its plane. Says nothing about what is held.
 */
export function consents(
  grants: Pick<Grants, 'consented' | 'held'>,
  resource: string,
  action: string,
  target: Target,
): boolean {
  const { consented, held } = grants;
  if (consented === undefined || consented.has(`${resource}:${action}`)) return true;
  // Written otherwise than asked (` Invoice`, `ApiKey:revoke`): at most 100 scopes to compare.
  for (const scope of consented) {
    const at = scope.indexOf(':');
    const named = locate(held, scope.slice(0, at), scope.slice(at + 1));
    const same = named.resource === target.resource && named.action === target.action;
    if (at > 0 && same && named.management === target.management) return true;
  }
  return false;
}

/** What is held for a target, whatever the conditions; undefined if nothing. */
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
  /** By condition: what tells its candidates apart, for the candidates seen so far. */
  readonly seen: Map<unknown, Set<string>>;
}

function add(
  plane: Map<string, Map<string, MutableCandidates>>,
  held: HeldPermission,
  compiled: CompiledCondition,
): void {
  const { id, name, resource, action } = held.permission;
  const actions = getOrSet(plane, resource, () => new Map<string, MutableCandidates>());
  const entry = getOrSet(actions, action.toLowerCase(), () => ({
    allowed: undefined,
    conditional: [],
    seen: new Map<unknown, Set<string>>(),
  }));
  const permission = Object.freeze({ id, name, resource, action });
  if (compiled.unconditional) {
    entry.allowed ??= Object.freeze({ authorized: true, reason: 'ALLOWED', matchedPermission: permission });
    return;
  }
  // A hundred groups with one permission are a hundred paths, and one question, unless its condition reads the group.
  const { readsRole, readsGroup } = compiled;
  const path = `${id} ${readsRole ? held.role.id : ''} ${readsGroup ? held.group.id : ''}`;
  const seen = getOrSet(entry.seen, held.condition, () => new Set<string>());
  if (seen.has(path)) return;
  seen.add(path);
  const [role, group] = [attributesOf(held.role), attributesOf(held.group)];
  const { condition } = held;
  const told = isPlainObject(condition) ? condition : undefined;
  entry.conditional.push({ permission, condition, told, compiled, role, group });
}

function getOrSet<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Exactly the attributes of §7.1, even if the loader hands over whole rows. */
function attributesOf({ id, name, metadata }: Carrier): Carrier {
  return { id, name, metadata };
}

// Refusals that say nothing but their reason are shared: the hot path allocates nothing for them.
const refusal = (reason: DecisionReason): Decision => Object.freeze({ authorized: false, reason });
const invalidScope = refusal('INVALID_SCOPE');
const subjectInactive = refusal('SUBJECT_INACTIVE');
const scopeNotConsented = refusal('SCOPE_NOT_CONSENTED');
const noPermission = refusal('NO_PERMISSION');

/** The order of the reasons is the contract's: who asks, for what, and only then what is held. */
function select(grants: Grants, question: Question, target: Target): Decision | Candidates {
  if (grants.standing === 'outside') return invalidScope;
  if (grants.standing !== 'active') return subjectInactive;
  if (!consents(grants, question.resource, question.action, target)) return scopeNotConsented;
  return candidatesFor(grants, target) ?? noPermission;
}

function decide(grants: Grants, question: Question, candidates: readonly Candidate[]): Decision {
  const { user, scope } = grants;
  const resource = question.attributes;
  let refused: Decision | undefined;
  for (const candidate of candidates) {
    const attributes = { user, role: candidate.role, group: candidate.group, scope, resource };
    const values = candidate.compiled.read(attributes);
    if (candidate.compiled.truthOf(values) === 'true') {
      return conditionally(candidate, values, true, 'ALLOWED_BY_CONDITION');
    }
    refused ??= conditionally(candidate, values, false, 'CONDITION_NOT_MET');
  }
  return refused ?? noPermission;
}

function conditionally(
  { permission, told, compiled }: Candidate,
  values: Values,
  authorized: boolean,
  reason: DecisionReason,
): Decision {
  const evaluatedContext = compiled.contextOf(values);
  // Written out: on the hot path spreading costs as much as deciding.
  return told
    ? { authorized, reason, matchedPermission: permission, matchedCondition: told, evaluatedContext }
    : { authorized, reason, matchedPermission: permission, evaluatedContext };
}
