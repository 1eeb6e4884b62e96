import type { Remedy } from '@doorward/decision/explain';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import type { JsonObject } from '../../src/kernel/input/values.ts';
import type { TestApp } from '../support/app/app.ts';
import type { Person, Via } from '../support/app/client.ts';

/** Does through the API what an explanation says, as an owner who knows nothing except the response. */
export interface Question {
  readonly scope: ScopeRef;
  readonly permission: { readonly resource: string; readonly action: string };
  readonly context?: { readonly resource: JsonObject };
  readonly subject?: { readonly userId: string };
}

interface Doing {
  readonly app: TestApp;
  readonly via: Via;
  /** The owners of the tenant; the first one who is not the subject acts. */
  readonly owners: readonly Person[];
  /** The user whose permissions or attributes were explained. */
  readonly userId: string;
  /** The scope of the question, and that of the organization above a project. */
  readonly scopes: readonly ScopeRef[];
}

/** Returns the question to be asked next: only an attribute of the resource in question changes it. */
export async function doWhatIsSaid(doing: Doing, remedy: Remedy, question: Question): Promise<Question> {
  if (remedy.kind === 'assignRole') await assign(doing, remedy.roleId);
  else if (remedy.kind === 'addPermissionToGroup') await link(doing, remedy.groupId, remedy.permissionId);
  else {
    const [root = '', ...path] = remedy.path.split('.');
    const value = remedy.expected;
    if (root === 'resource') {
      const resource = withValue(question.context?.resource ?? {}, path, value);
      return { ...question, context: { resource } };
    }
    const [noun, id] = remedy.roleId
      ? ['Role', remedy.roleId]
      : remedy.groupId
        ? ['Group', remedy.groupId]
        : ['User', doing.userId];
    const { scope, row } = await find(doing, noun.toLowerCase(), id);
    const metadata = withValue(row['metadata'] as JsonObject, path.slice(1), value);
    await call(doing, `update${noun}`, { scope, id, metadata });
  }
  return question;
}

/** Added to the roles in a project; replaces the role in an organization. */
async function assign(doing: Doing, roleId: string): Promise<void> {
  const [scope] = doing.scopes as [ScopeRef];
  const { userId } = doing;
  if (scope.tenant === 'organization') {
    await call(doing, 'updateOrganizationMember', { scope, userId, roleId });
    return;
  }
  const existing = await roles(doing, scope);
  if (existing) await call(doing, 'updateUser', { scope, id: userId, roleIds: [...existing, roleId] });
  // A user outside of the project is added to it. An owner without other owners may do that alone.
  else await call(doing, 'createUser', { scope, userId, roleIds: [roleId] });
}

/** The roles of the user in the scope; undefined if the user is not a member. */
async function roles(doing: Doing, scope: ScopeRef): Promise<string[] | undefined> {
  const { app, userId } = doing;
  const input = { scope, id: userId, relations: ['roles'] };
  const answer = await app.raw('user', input, { via: 'rest', token: tokenOf(doing) });
  return answer.ok ? (answer.data as { roles: { id: string }[] }).roles.map(({ id }) => id) : undefined;
}

async function link(doing: Doing, groupId: string, permissionId: string): Promise<void> {
  const { scope } = await find(doing, 'group', groupId);
  const input = { scope, id: groupId, relations: ['permissions'] };
  const group = await doing.app.raw('group', input, { via: 'rest', token: tokenOf(doing) });
  const held = (group.data as { permissions: { id: string }[] }).permissions.map(({ id }) => id);
  await call(doing, 'updateGroup', { scope, id: groupId, permissionIds: [...held, permissionId] });
}

/** A row of the scope, or else of the organization above it. */
async function find(doing: Doing, noun: string, id: string) {
  for (const scope of doing.scopes) {
    const answer = await doing.app.raw(noun, { scope, id }, { via: doing.via, token: tokenOf(doing) });
    if (answer.ok) return { scope, row: answer.data as Record<string, unknown> };
  }
  throw new Error(`no ${noun} ${id} in ${doing.scopes.map(({ tenant }) => tenant).join(' or ')}`);
}

const tokenOf = ({ owners, userId }: Doing): string =>
  (owners.find((owner) => owner.userId !== userId) ?? owners[0])?.token ?? '';

async function call(doing: Doing, name: string, input: object): Promise<void> {
  const answer = await doing.app.raw(name, input, { via: doing.via, token: tokenOf(doing) });
  if (!answer.ok) throw new Error(`${name} was refused: ${answer.body}`);
}

function withValue(object: JsonObject, [key = '', ...rest]: readonly string[], value: unknown): JsonObject {
  const inner = rest.length === 0 ? value : withValue((object[key] ?? {}) as JsonObject, rest, value);
  return { ...object, [key]: inner } as JsonObject;
}
