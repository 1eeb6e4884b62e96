import type { DocumentKind, PolicyDocument } from './document.ts';

/** A name in a document that refers to nothing, is not allowed, is used twice, or is required but missing. */
export interface ReferenceFault {
  /** Path of the name; it begins with `policy`. */
  readonly path: string;
  readonly code: 'enum' | 'required' | 'not_allowed' | 'duplicate';
  readonly hint?: string;
  /** The names that would be valid, and the name in the document. */
  readonly allowed?: readonly string[];
  readonly given?: string;
}

/** The rows that every project has and that documents can refer to by name. */
export interface BuiltInNames {
  readonly resources: readonly { readonly slug: string; readonly actions: readonly string[] }[];
  readonly permissions: readonly string[];
  readonly groups: readonly string[];
  readonly roles: readonly { readonly name: string; readonly level: string }[];
}

/**
 * Finds the faulty names in a complete document. A valid reference is the key of a row in the document or the name of a
 * built-in row, and the action of a permission is an action of its resource.
 */
export function* referenceFaults(
  document: PolicyDocument,
  builtIns: BuiltInNames,
): Generator<ReferenceFault> {
  const permissionNames = new Set(builtIns.permissions);
  const groupNames = new Set(builtIns.groups);
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
    // Tag names are unique regardless of case.
    if (spelled.has(key.toLowerCase())) yield { path: `policy.tags.${key}`, code: 'duplicate' };
    spelled.add(key.toLowerCase());
  }
}

const unknown = (path: string, allowed: readonly string[], given: string): ReferenceFault => ({
  path,
  code: 'enum',
  allowed,
  given,
});

function* builtInKeys(
  document: PolicyDocument,
  kind: 'permissions' | 'groups' | 'roles',
  names: ReadonlySet<string>,
): Generator<ReferenceFault> {
  for (const key of Object.keys(document[kind]))
    if (names.has(key))
      yield {
        path: `policy.${kind}.${key}`,
        code: 'not_allowed',
        hint: 'choose a name that no built-in row uses',
      };
}

function* unknownNames(
  document: PolicyDocument,
  kind: DocumentKind,
  links: 'permissions' | 'groups' | 'tags',
  allowed: ReadonlySet<string>,
): Generator<ReferenceFault> {
  for (const [key, row] of Object.entries(document[kind])) {
    const named = (row as Partial<Record<typeof links, readonly string[]>>)[links] ?? [];
    for (const [index, name] of named.entries())
      if (!allowed.has(name)) yield unknown(`policy.${kind}.${key}.${links}.${index}`, [...allowed], name);
  }
}
