import type { Condition } from '@doorward/decision/conditions';
import { permissionIdOf, resourceIdOf, type RoleName } from '../../../src/schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../../src/kernel/scope.ts';
import { member } from '../../contract/world.ts';
import type { TestApp } from '../app/app.ts';
import { unique, type Person } from '../app/client.ts';

/** An organization with one project, and functions that add people with exact permissions. */
export interface Firm {
  readonly owner: Person;
  readonly organization: ScopeRef;
  readonly project: ScopeRef;
  readonly projectId: string;
  /** A new role that holds these permissions by one group: built-in ones by their names, others with a condition. */
  readonly role: (scope: ScopeRef, ...permissions: readonly Held[]) => Promise<NewRole>;
  readonly member: (role: RoleName) => Promise<Person>;
  /** A viewer of the organization who is a user of the project with these permissions there. */
  readonly user: (
    metadata: Record<string, unknown>,
    ...permissions: readonly Held[]
  ) => Promise<Person & NewRole>;
}

interface NewRole {
  readonly roleId: string;
  readonly groupId: string;
  readonly permissionIds: readonly string[];
}

type Held = string | { readonly on: string; readonly when: Condition };

export async function firmOf(app: TestApp): Promise<Firm> {
  const owner = await app.person({ type: 'organization' });
  const as = { token: owner.token };
  const { id } = await app.must('createOrganization', { scope: owner.account, name: `Firm ${unique()}` }, as);
  const organization: ScopeRef = { tenant: 'organization', id };
  const { id: projectId, scope: project } = await app.must(
    'createProject',
    { scope: organization, name: 'Shop' },
    as,
  );

  async function role(scope: ScopeRef, ...permissions: readonly Held[]): Promise<NewRole> {
    const permissionIds: string[] = [];
    for (const permission of permissions) {
      if (typeof permission === 'string') permissionIds.push(permissionIdOf(permission));
      else {
        const [noun = '', action = ''] = permission.on.split(':');
        const input = { scope, resourceId: resourceIdOf(noun), action, condition: permission.when };
        permissionIds.push((await app.must('createPermission', input, as)).id);
      }
    }
    const group = await app.must('createGroup', { scope, name: `Group ${unique()}`, permissionIds }, as);
    const made = await app.must('createRole', { scope, name: `Role ${unique()}`, groupIds: [group.id] }, as);
    return { roleId: made.id, groupId: group.id, permissionIds };
  }

  return {
    owner,
    organization,
    project,
    projectId,
    role,
    member: (name) => member(app, id, name),
    async user(metadata, ...permissions) {
      const person = await member(app, id, 'Organization Viewer');
      const given = await role(project, ...permissions);
      const joining = { scope: project, userId: person.userId, roleIds: [given.roleId], metadata };
      await app.must('createUser', joining as never, as);
      return { ...person, ...given };
    },
  };
}

/** Whether the caller has the permission. */
export async function may(
  app: TestApp,
  token: string,
  scope: ScopeRef,
  permission: string,
): Promise<boolean> {
  const [resource = '', action = ''] = permission.split(':');
  return (await app.must('isAuthorized', { scope, permission: { resource, action } }, { token })).authorized;
}
