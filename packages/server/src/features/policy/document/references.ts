import type { DocumentKind, PolicyDocument } from '@doorward/decision/document/document';
import { assertCondition } from '../../../access/condition.ts';
import type { BuiltIns } from '../../../access/built-in.ts';
import { DoorwardError, fail, type Detail } from '../../../errors.ts';
import { fixOf, useOneOf, type Hint } from '../../../kernel/input/fix.ts';

/** A name in a document that leads nowhere, or that is not allowed there. */
interface Fault extends Detail {
  readonly hint?: string;
}

const MAX_DETAILS = 20;

/**
 * Checks what a document says about itself: each name is a key of the document or a built-in row, each permission is about
 * an action of its resource, and each condition parses. Nothing outside the document can be named.
 * @throws VALIDATION_ERROR, INVALID_CONDITION, with paths that begin with `policy`
 */
export function assertConsistent(document: PolicyDocument, builtIns: BuiltIns): void {
  const faults: Fault[] = [];
  // Each has a hint, for which every allowed name is compared with it, so no more are made than are shown.
  for (const fault of faultsOf(document, builtIns)) if (faults.push(fault) === MAX_DETAILS) break;
  if (faults.length > 0) {
    const details = faults.map(({ path, code }) => ({ path, code }));
    const hints = faults.flatMap(({ path, hint }): Hint[] => (hint === undefined ? [] : [{ path, hint }]));
    const fix = fixOf(hints, details.length);
    throw fail('VALIDATION_ERROR', { details, ...(fix === undefined ? {} : { fix }) });
  }
  assertConditions(document);
}

function* faultsOf(document: PolicyDocument, builtIns: BuiltIns): Generator<Fault> {
  const permissionNames = new Set(builtIns.permissions.map(({ name }) => name));
  const groupNames = new Set(builtIns.groups.map(({ name }) => name));
  const actionsOf = new Map([
    ...builtIns.resources.map(({ slug, actions }) => [slug, actions] as const),
    ...Object.entries(document.resources).map(([slug, { actions }]) => [slug, actions] as const),
  ]);
  yield* builtInKeys(document, 'permissions', permissionNames);
  yield* builtInKeys(document, 'groups', groupNames);
  yield* builtInKeys(document, 'roles', new Set(builtIns.roles.map(({ name }) => name)));
  for (const [key, { resource, action }] of Object.entries(document.permissions)) {
    const actions = actionsOf.get(resource);
    const path = `policy.permissions.${key}`;
    if (!actions) yield unknown(`${path}.resource`, [...actionsOf.keys()], resource);
    else if (!actions.includes(action)) yield unknown(`${path}.action`, actions, action);
  }
  const tags = new Set(Object.keys(document.tags));
  const permissions = new Set([...Object.keys(document.permissions), ...permissionNames]);
  const groups = new Set([...Object.keys(document.groups), ...groupNames]);
  yield* unknownNames(document, 'groups', 'permissions', permissions);
  yield* unknownNames(document, 'roles', 'groups', groups);
  for (const kind of ['resources', 'permissions', 'groups', 'roles', 'apps'] as const)
    yield* unknownNames(document, kind, 'tags', tags);
  const roles = new Set(Object.keys(document.roles));
  const ofProjects = builtIns.roles.filter(({ level }) => level === 'project').map(({ name }) => name);
  for (const [key, { signUpRole, allowSignUp }] of Object.entries(document.apps)) {
    const path = `policy.apps.${key}.signUpRole`;
    const allowed = [...roles, ...ofProjects];
    if (signUpRole !== null && !allowed.includes(signUpRole)) yield unknown(path, allowed, signUpRole);
    if (signUpRole === null && allowSignUp)
      yield { path, code: 'required', hint: 'name the role for people who sign up' };
  }
  for (const [index, { subject }] of document.tests.entries())
    for (const [at, role] of (subject?.roles ?? []).entries())
      if (!roles.has(role)) yield unknown(`policy.tests.${index}.subject.roles.${at}`, [...roles], role);
  const spelled = new Set<string>();
  for (const key of tags) {
    // Tags of a project differ in more than capitals.
    if (spelled.has(key.toLowerCase())) yield { path: `policy.tags.${key}`, code: 'duplicate' };
    spelled.add(key.toLowerCase());
  }
}

const unknown = (path: string, allowed: readonly string[], given: string): Fault => ({
  path,
  code: 'enum',
  hint: useOneOf(allowed, given),
});

function* builtInKeys(
  document: PolicyDocument,
  kind: 'permissions' | 'groups' | 'roles',
  names: ReadonlySet<string>,
): Generator<Fault> {
  for (const key of Object.keys(document[kind]))
    if (names.has(key))
      yield {
        path: `policy.${kind}.${key}`,
        code: 'not_allowed',
        hint: 'choose a name that no built-in row has',
      };
}

function* unknownNames(
  document: PolicyDocument,
  kind: DocumentKind,
  links: 'permissions' | 'groups' | 'tags',
  allowed: ReadonlySet<string>,
): Generator<Fault> {
  for (const [key, row] of Object.entries(document[kind])) {
    const named = (row as Partial<Record<typeof links, readonly string[]>>)[links] ?? [];
    for (const [index, name] of named.entries())
      if (!allowed.has(name)) yield unknown(`policy.${kind}.${key}.${links}.${index}`, [...allowed], name);
  }
}

/** @throws INVALID_CONDITION with the problems of all conditions, 20 at most */
function assertConditions({ permissions }: PolicyDocument): void {
  const details: Detail[] = [];
  let fix: string | undefined;
  for (const [key, { condition }] of Object.entries(permissions)) {
    try {
      assertCondition(condition, `policy.permissions.${key}.condition`);
    } catch (error) {
      if (!(error instanceof DoorwardError)) throw error;
      details.push(...(error.extras.details ?? []));
      fix ??= error.extras.fix;
    }
    if (details.length >= MAX_DETAILS) break;
  }
  if (details.length > 0)
    throw fail('INVALID_CONDITION', {
      details: details.slice(0, MAX_DETAILS),
      ...(fix === undefined ? {} : { fix }),
    });
}
