/*
 * Searches for one attribute whose change would turn a refusal into an allowed decision. There may be thousands of
 * proposals, and the attributes may take 64 KB. So each proposal is first tried on only the values that the conditions
 * read; if a condition is then met, the change is applied to a copy of the attributes and the whole question is decided
 * again.
 */

import { compileCondition, type CompiledCondition, type Values } from './conditions.ts';
import { proposeSettings, type Setting } from './conditions-failure.ts';
import { isPlainObject, type Path } from './conditions-parse.ts';
import type { Grants, HeldPermission, Question } from './evaluate.ts';
import { conditionAttributes, type Accepts, type ExplainContext } from './explain-context.ts';
import { Lists } from './lists.ts';
import { Work, WorkExceeded, type Charged } from './work.ts';

export interface SettingSearch {
  readonly grants: Grants;
  readonly question: Question;
  readonly context: ExplainContext;
  readonly accepts: Accepts;
  readonly allows: (held: readonly HeldPermission[], changed: Partial<Grants>, question: Question) => boolean;
  readonly work: Charged;
}

/**
 * A change to one attribute. `roleId` or `groupId` is set if the attribute is in the metadata of that role or group.
 */
export interface SettingRemedy {
  readonly kind: 'setAttribute';
  readonly permissionId: string;
  readonly path: string;
  readonly expected: unknown;
  readonly roleId?: string;
  readonly groupId?: string;
}

export interface FoundSetting {
  readonly remedy: SettingRemedy;
  /** Whether the attribute is in the metadata of a role or group, so that the change affects all assignees. */
  readonly shared: boolean;
}

/**
 * Limits of the search. `paths`: only this many paths are tried. `steps`: about 50 ms for the whole search. The others
 * are counted again for each entry of `rootsByRank`: `perPath`, the proposals for one path, and `copies`, the proposals
 * that met a condition and were tried on a copy of the attributes. Beyond a limit the search may end without a remedy.
 */
export const searchLimits = { paths: 10, perPath: 200, copies: 20, steps: 250_000 } as const;

/**
 * The order in which attributes are tried: first those of the resource, then of the subject, then of a role or group,
 * whose change would affect others too.
 */
const rootsByRank = [['resource'], ['user'], ['role', 'group']] as const;

export function settingRemedy(search: SettingSearch): FoundSetting | undefined {
  const work = new Work(searchLimits.steps);
  try {
    for (const roots of rootsByRank) {
      const setting = firstSetting(search, roots, work);
      if (setting) return setting;
    }
  } catch (error) {
    // The question itself has been decided; the explanation merely lacks this remedy.
    if (!(error instanceof WorkExceeded)) throw error;
  } finally {
    search.work.charge('proposals', work.spent);
  }
  return undefined;
}

function firstSetting(search: SettingSearch, roots: readonly string[], work: Work): FoundSetting | undefined {
  const { grants, question, context } = search;
  const held = context.held.slice(0, searchLimits.paths);
  const lists = new Lists(work);
  const tried = held.map((path): Tried => {
    const compiled = compileCondition(path.condition);
    return { path, compiled, values: compiled.read(conditionAttributes(path, grants, question)) };
  });
  const isWanted = ({ parts: [root = ''] }: Path): boolean => roots.includes(root);
  let copies = 0;
  for (const { path } of tried) {
    let proposals = 0;
    for (const setting of proposeSettings(
      path.condition,
      conditionAttributes(path, grants, question),
      isWanted,
    )) {
      if (++proposals > searchLimits.perPath) break;
      work.charge('proposals', 1 + (Array.isArray(setting.value) ? setting.value.length : 0));
      if (!tried.some((other) => isMetWith(other, path, setting, lists))) continue;
      if (++copies > searchLimits.copies) return undefined;
      const change = changeFor(path, setting, { ...search, context: { ...context, held } });
      if (change && search.allows(change.held, change.grants, change.question)) return change;
    }
  }
  return undefined;
}

/** A path of the subject with the values that its condition reads now. */
interface Tried {
  readonly path: HeldPermission;
  readonly compiled: CompiledCondition;
  readonly values: Values;
}

/** Whether the condition on the path `tried` would be met after the change that `path` proposed. */
function isMetWith(tried: Tried, path: HeldPermission, { path: at, value }: Setting, lists: Lists): boolean {
  const { compiled, values } = tried;
  const [root] = at.parts;
  const concerns = (root !== 'role' && root !== 'group') || tried.path[root].id === path[root].id;
  if (!concerns) return false;
  // The new value is a scalar or a list, so values at paths below it become missing. The value at a path above it is an
  // object, which no operator can compare, so that value need not change.
  const changed = values.map((existing, index) => {
    const text = compiled.paths[index] ?? '';
    if (text === at.text) return value;
    return text.startsWith(`${at.text}.`) ? undefined : existing;
  });
  return compiled.truthOf(changed, lists) === 'true';
}

interface Change extends FoundSetting {
  readonly held: readonly HeldPermission[];
  readonly grants: Partial<Grants>;
  readonly question: Question;
}

/** The change that sets the attribute; undefined if nothing can set it. */
function changeFor(
  path: HeldPermission,
  { path: { text, parts }, value }: { readonly path: Path; readonly value: unknown },
  { grants, question, context: { held, settable }, accepts }: SettingSearch,
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

/** Returns a copy of the object with the value at a path; undefined if a member on the path is not an object. */
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
