import { compileCondition } from './conditions.ts';
import { failureOf, settingsFor } from './conditions-failure.ts';
import type { Failure } from './conditions-failure.ts';
import type { Attributes } from './conditions-eval.ts';
import { isPlainObject, type Path } from './conditions-parse.ts';
import { evaluate, indexPermissions, locate } from './evaluate.ts';
import type { Carrier, Decision, Grants, HeldPermission, Question } from './evaluate.ts';

/**
 * Why a decision fell as it did, and the nearest change after which it would be allowed (authorization §10.1).
 *
 * Pure like `evaluate`, and a client of it: nothing is called a remedy that was not tried, by putting the very same
 * question to the grants as they would be then. What can be changed at all (and not only in theory) is for the caller to
 * say, in `Surroundings`.
 */
export interface Surroundings {
  /** Every path by which the subject's roles hold something for the pair in question, in the order of the index. */
  readonly held: readonly HeldPermission[];
  /** Roles that somebody could give to the subject, least privilege first, with their paths for the pair. */
  readonly roles: readonly { readonly roleId: string; readonly paths: readonly HeldPermission[] }[];
  /** Permissions that somebody could put into a group of the subject, least privilege first, with what is held by it. */
  readonly links: readonly Link[];
  readonly settable: {
    /** The subject's metadata in the scope. */
    readonly user: boolean;
    /** Ids of its roles and groups whose metadata can be changed. */
    readonly carriers: ReadonlySet<string>;
  };
}

export interface Link {
  readonly groupId: string;
  readonly permissionId: string;
  readonly paths: readonly HeldPermission[];
}

/** What an attribute may become: the caps of the inputs that take it. */
export interface Accepts {
  readonly resource: (value: Record<string, unknown>) => boolean;
  readonly metadata: (value: Record<string, unknown>) => boolean;
}

/** One path by which the subject holds a permission for the pair, and what came of it. */
export interface Outcome {
  readonly permissionId: string;
  readonly roleId: string;
  readonly groupId: string;
  readonly result: 'unconditional' | 'met' | 'notMet';
  readonly failedAt?: Failure;
}

export type Remedy =
  | { readonly kind: 'assignRole'; readonly roleId: string }
  | { readonly kind: 'addPermissionToGroup'; readonly groupId: string; readonly permissionId: string }
  | SettingRemedy;

/** `roleId` or `groupId` is named where it is that one's metadata. */
interface SettingRemedy {
  readonly kind: 'setAttribute';
  readonly permissionId: string;
  readonly path: string;
  readonly expected: unknown;
  readonly roleId?: string;
  readonly groupId?: string;
}

export interface Explained {
  readonly decision: Decision;
  readonly candidates: readonly Outcome[];
  readonly nearest: readonly Remedy[];
}

export const limits = { candidates: 50, nearest: 3, settings: 200, tried: 10 } as const;

/** `grants.held` is not read, but for the nouns: what is held stands in the surroundings, which are of this moment. */
export function explain(
  grants: Grants,
  question: Question,
  surroundings: Surroundings,
  accepts: Accepts,
): Explained {
  const { held } = surroundings;
  const tryWith = (paths: readonly HeldPermission[], changed?: Partial<Grants>, asked = question) =>
    evaluate({ ...grants, ...changed, held: indexPermissions(paths, grants.held.managementNouns) }, asked);
  const decision = tryWith(held);
  if (!reached.has(decision.reason) || !counts(grants, question))
    return { decision, candidates: [], nearest: [] };
  const candidates = held.slice(0, limits.candidates).map((path) => outcomeOf(path, grants, question));
  if (decision.authorized) return { decision, candidates, nearest: [] };

  const allows = (...tried: Parameters<typeof tryWith>) => tryWith(...tried).authorized;
  const setting = settings(grants, question, surroundings, accepts, allows);
  // What is held refuses already, and nothing held takes away: so only what comes, beside it or in its place, can allow.
  const role = surroundings.roles.find(({ paths }) => allows(paths));
  const link = surroundings.links.find(({ paths }) => allows(paths));
  // What gives the subject no more than was meant for it comes first; what changes others' rights too comes last.
  const nearest: (Remedy | undefined)[] = [
    setting && !setting.shared ? setting.remedy : undefined,
    role && { kind: 'assignRole', roleId: role.roleId },
    link && { kind: 'addPermissionToGroup', groupId: link.groupId, permissionId: link.permissionId },
    setting?.shared ? setting.remedy : undefined,
  ];
  return {
    decision,
    candidates,
    nearest: nearest.filter((one) => one !== undefined).slice(0, limits.nearest),
  };
}

/** Decisions for which it mattered what is held. */
const reached = new Set<Decision['reason']>([
  'NO_PERMISSION',
  'ALLOWED',
  'ALLOWED_BY_CONDITION',
  'CONDITION_NOT_MET',
]);

const counts = ({ held, projectPlaneOnly }: Grants, { resource, action }: Question): boolean =>
  projectPlaneOnly !== true || !locate(held, resource, action).management;

const attributesAt = (
  { role, group }: Pick<HeldPermission, 'role' | 'group'>,
  { user, scope }: Pick<Grants, 'user' | 'scope'>,
  { attributes: resource }: Question,
): Attributes => ({ user, role: bare(role), group: bare(group), scope, resource });

const bare = ({ id, name, metadata }: Carrier): Carrier => ({ id, name, metadata });

function outcomeOf(path: HeldPermission, grants: Grants, question: Question): Outcome {
  const compiled = compileCondition(path.condition);
  const attributes = attributesAt(path, grants, question);
  const ids = { permissionId: path.permission.id, roleId: path.role.id, groupId: path.group.id };
  if (compiled.unconditional) return { ...ids, result: 'unconditional' };
  if (compiled.evaluate(attributes) === 'true') return { ...ids, result: 'met' };
  const failedAt = failureOf(path.condition, attributes);
  return { ...ids, result: 'notMet', ...(failedAt && { failedAt }) };
}

interface Change {
  readonly remedy: SettingRemedy;
  /** It is of a role or group, so of everybody who wears it. */
  readonly shared: boolean;
  readonly held: readonly HeldPermission[];
  readonly grants: Partial<Grants>;
  readonly question: Question;
}

/** The first attribute that alone makes a permission held already count: of the thing, of the subject, of role or group. */
function settings(
  grants: Grants,
  question: Question,
  surroundings: Surroundings,
  accepts: Accepts,
  allows: (held: readonly HeldPermission[], changed: Partial<Grants>, asked: Question) => boolean,
): Change | undefined {
  // Each change is tried on this part alone: further permissions could only allow more, and there may be a thousand of
  // them.
  const held = surroundings.held.slice(0, limits.tried);
  const given = { grants, question, surroundings: { ...surroundings, held }, accepts };
  const changes = held.flatMap((path) =>
    settingsFor(path.condition, attributesAt(path, grants, question), limits.settings).flatMap((one) => {
      const change = changeFor(path, one, given);
      return change ? [change] : [];
    }),
  );
  const rank = ({ remedy, shared }: Change) => (shared ? 2 : remedy.path.startsWith('resource.') ? 0 : 1);
  return changes.sort((a, b) => rank(a) - rank(b)).find((one) => allows(one.held, one.grants, one.question));
}

interface Given {
  readonly grants: Grants;
  readonly question: Question;
  readonly surroundings: Surroundings;
  readonly accepts: Accepts;
}

/** What would be otherwise with the attribute set; undefined if nobody can set it. */
function changeFor(
  path: HeldPermission,
  { path: { text, parts }, value }: { readonly path: Path; readonly value: unknown },
  { grants, question, surroundings: { held, settable }, accepts }: Given,
): Change | undefined {
  const [root = '', ...inside] = parts;
  const remedy = {
    kind: 'setAttribute' as const,
    permissionId: path.permission.id,
    path: text,
    expected: value,
  };
  const same = { shared: false, held, grants: {}, question };
  if (root === 'resource') {
    const resource = withValue(question.attributes ?? {}, inside, value);
    if (!resource || !accepts.resource(resource)) return undefined;
    return { ...same, remedy, question: { ...question, attributes: resource } };
  }
  const [member, ...key] = inside;
  if (member !== 'metadata' || key.length === 0) return undefined;
  const changed = (metadata: unknown): Record<string, unknown> | undefined => {
    const after = withValue(isPlainObject(metadata) ? metadata : {}, key, value);
    return after && accepts.metadata(after) ? after : undefined;
  };
  if (root === 'user') {
    const metadata = settable.user && grants.user ? changed(grants.user['metadata']) : undefined;
    return metadata && { ...same, remedy, grants: { user: { ...grants.user, metadata } } };
  }
  if (root !== 'role' && root !== 'group') return undefined;
  const carrier = path[root];
  const metadata = settable.carriers.has(carrier.id) ? changed(carrier.metadata) : undefined;
  if (!metadata) return undefined;
  const after = held.map((one) =>
    one[root].id === carrier.id ? { ...one, [root]: { ...one[root], metadata } } : one,
  );
  return { ...same, shared: true, held: after, remedy: { ...remedy, [`${root}Id`]: carrier.id } };
}

/** The object with another value at a path; undefined where something that is no object stands in the way. */
function withValue(
  object: Record<string, unknown>,
  [key = '', ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> | undefined {
  if (rest.length === 0) return { ...object, [key]: value };
  const inner = Object.hasOwn(object, key) ? object[key] : {};
  const changed = isPlainObject(inner) ? withValue(inner, rest, value) : undefined;
  return changed && { ...object, [key]: changed };
}
