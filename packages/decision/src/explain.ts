import { compileCondition } from './conditions.ts';
import { failureOf, proposeSettings } from './conditions-failure.ts';
import type { Failure } from './conditions-failure.ts';
import type { Attributes } from './conditions-eval.ts';
import { isPlainObject, type Path } from './conditions-parse.ts';
import { evaluate, indexPermissions, locate } from './evaluate.ts';
import type { GrantSource, Decision, Grants, HeldPermission, Question } from './evaluate.ts';

/**
 * Explains a decision, and names the smallest changes that would turn a refusal into a permission (authorization §10.1).
 *
 * Pure, like `evaluate`. Each remedy was verified: `evaluate` allows the same question after the change. The caller lists
 * in `ExplainContext` which changes are possible.
 */
export interface ExplainContext {
  /** Every path of the subject's roles to the resource and action in question, in the order of the index. */
  readonly held: readonly HeldPermission[];
  /** Roles that an administrator could assign to the subject, least privilege first, with their paths to the pair. */
  readonly roles: readonly { readonly roleId: string; readonly paths: readonly HeldPermission[] }[];
  /** Permissions that an administrator could add to a group of the subject, least privilege first, with the new paths. */
  readonly links: readonly Link[];
  readonly settable: {
    /** Whether the subject's metadata in the scope can be changed. */
    readonly user: boolean;
    /** Ids of the subject's roles and groups whose metadata can be changed. */
    readonly grantSources: ReadonlySet<string>;
  };
}

export interface Link {
  readonly groupId: string;
  readonly permissionId: string;
  readonly paths: readonly HeldPermission[];
}

/** Whether the API would accept a changed attribute: the limits of the inputs. */
export interface Accepts {
  readonly resource: (value: Record<string, unknown>) => boolean;
  readonly metadata: (value: Record<string, unknown>) => boolean;
}

/** One path of the subject to the pair, and whether its condition is met. */
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

/** `roleId` or `groupId` is set if the attribute is in the metadata of that role or group. */
interface SettingRemedy {
  readonly kind: 'setAttribute';
  readonly permissionId: string;
  readonly path: string;
  readonly expected: unknown;
  readonly roleId?: string;
  readonly groupId?: string;
}

export interface Explanation {
  readonly decision: Decision;
  readonly candidates: readonly Outcome[];
  readonly nearest: readonly Remedy[];
}

export const limits = { candidates: 50, nearest: 3, settings: 200, tried: 10 } as const;

/** Reads the permissions from `context`, which is current, not from `grants.held`; of that only the nouns are used. */
export function explain(
  grants: Grants,
  question: Question,
  context: ExplainContext,
  accepts: Accepts,
): Explanation {
  const { held } = context;
  const tryWith = (paths: readonly HeldPermission[], changed?: Partial<Grants>, requested = question) =>
    evaluate(
      { ...grants, ...changed, held: indexPermissions(paths, grants.held.managementNouns) },
      requested,
    );
  const decision = tryWith(held);
  if (!reasonsWithPaths.has(decision.reason) || !hasEffect(grants, question))
    return { decision, candidates: [], nearest: [] };
  const candidates = held.slice(0, limits.candidates).map((path) => outcomeOf(path, grants, question));
  if (decision.authorized) return { decision, candidates, nearest: [] };

  const allows = (...tried: Parameters<typeof tryWith>) => tryWith(...tried).authorized;
  const setting = settings(grants, question, context, accepts, allows);
  // Permissions only add, so the new paths alone decide whether the change allows the question.
  const role = context.roles.find(({ paths }) => allows(paths));
  const link = context.links.find(({ paths }) => allows(paths));
  // A change that affects only this subject comes first; one that affects other subjects too comes last.
  const nearest: (Remedy | undefined)[] = [
    setting && !setting.shared ? setting.remedy : undefined,
    role && { kind: 'assignRole', roleId: role.roleId },
    link && { kind: 'addPermissionToGroup', groupId: link.groupId, permissionId: link.permissionId },
    setting?.shared ? setting.remedy : undefined,
  ];
  return {
    decision,
    candidates,
    nearest: nearest.filter((remedy) => remedy !== undefined).slice(0, limits.nearest),
  };
}

/** Reasons of decisions that looked at the permissions. */
export const reasonsWithPaths: ReadonlySet<Decision['reason']> = new Set<Decision['reason']>([
  'NO_PERMISSION',
  'ALLOWED',
  'ALLOWED_BY_CONDITION',
  'CONDITION_NOT_MET',
]);

const hasEffect = ({ held, projectPlaneOnly }: Grants, { resource, action }: Question): boolean =>
  projectPlaneOnly !== true || !locate(held, resource, action).management;

const attributesAt = (
  { role, group }: Pick<HeldPermission, 'role' | 'group'>,
  { user, organization, scope }: Pick<Grants, 'user' | 'organization' | 'scope'>,
  { attributes: resource }: Pick<Question, 'attributes'>,
): Attributes => ({
  user,
  role: sourceAttributes(role),
  group: sourceAttributes(group),
  organization,
  scope,
  resource,
});

const sourceAttributes = ({ id, name, metadata }: GrantSource): GrantSource => ({ id, name, metadata });

/** What the condition of a path answers, and the comparison by which it is not met. */
export function outcomeOf(
  path: HeldPermission,
  grants: Pick<Grants, 'user' | 'organization' | 'scope'>,
  question: Pick<Question, 'attributes'>,
): Outcome {
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
  /** Whether it is the metadata of a role or group, and so affects all of its assignees. */
  readonly shared: boolean;
  readonly held: readonly HeldPermission[];
  readonly grants: Partial<Grants>;
  readonly question: Question;
}

/** The first attribute that alone meets the condition of a path: of the resource, then the subject, then a role or group. */
function settings(
  grants: Grants,
  question: Question,
  context: ExplainContext,
  accepts: Accepts,
  allows: (held: readonly HeldPermission[], changed: Partial<Grants>, question: Question) => boolean,
): Change | undefined {
  // Only the first paths are tried: the others could only allow more, and there may be a thousand of them.
  const held = context.held.slice(0, limits.tried);
  const attempt: Attempt = { grants, question, context: { ...context, held }, accepts };
  const changes = held.flatMap((path) =>
    proposeSettings(path.condition, attributesAt(path, grants, question), limits.settings).flatMap(
      (setting) => {
        const change = changeFor(path, setting, attempt);
        return change ? [change] : [];
      },
    ),
  );
  const rank = ({ remedy, shared }: Change) => (shared ? 2 : remedy.path.startsWith('resource.') ? 0 : 1);
  return changes
    .sort((a, b) => rank(a) - rank(b))
    .find((change) => allows(change.held, change.grants, change.question));
}

interface Attempt {
  readonly grants: Grants;
  readonly question: Question;
  readonly context: ExplainContext;
  readonly accepts: Accepts;
}

/** The change that sets the attribute; undefined if no one can set it. */
function changeFor(
  path: HeldPermission,
  { path: { text, parts }, value }: { readonly path: Path; readonly value: unknown },
  { grants, question, context: { held, settable }, accepts }: Attempt,
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
  const source = path[root];
  const metadata = settable.grantSources.has(source.id) ? changed(source.metadata) : undefined;
  if (!metadata) return undefined;
  const after = held.map((heldPermission) =>
    heldPermission[root].id === source.id
      ? { ...heldPermission, [root]: { ...heldPermission[root], metadata } }
      : heldPermission,
  );
  return { ...same, shared: true, held: after, remedy: { ...remedy, [`${root}Id`]: source.id } };
}

/** A copy of the object with the value at a path; undefined if a member on the path is not an object. */
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
