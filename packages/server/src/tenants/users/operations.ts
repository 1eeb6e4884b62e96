import { eq, inArray, sql } from 'drizzle-orm';
import { Impact } from '../../access/dry-run/impact.ts';
import { equals } from '../../db/query/filters.ts';
import { instant } from '../../db/statements/rows.ts';
import { linkIds } from '../../kernel/entity.ts';
import { pageOf, paging, relationsOf } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { uuid } from '../../kernel/input/values.ts';
import { assertRoleCount, leave, lockMembership, assigneesOf } from '../../members/scope-membership.ts';
import { addUser } from './create-user.ts';
import { changeUser } from './update-user.ts';
import { ChangeableStatus, User, UserKind, users as userTable } from '../../schema/people/user.ts';

const tenants: readonly Tenant[] = ['account', 'organization', 'accountProject', 'organizationProject'];
const roleIds = linkIds(20).describe('Roles of the user in the scope; replaces the whole set.');

export const users = query({
  rest: 'GET /users',
  access: 'User:Query',
  summary: 'List the members of an organization, the users of a project, or the service users of an account',
  tenants,
  input: {
    scope: Scope,
    ...paging(User),
    roleId: uuid.optional().describe('Only users with this role.'),
    kind: UserKind.optional().describe('Only people, or only service users.'),
  },
  output: pageOf(User),
  run: ({ db, input, scope }) =>
    db.page(User, input, [
      input.roleId === undefined ? undefined : inArray(userTable.id, assigneesOf(scope, input.roleId)),
      equals(User, 'kind', input.kind),
    ]),
});

export const user = query({
  rest: 'GET /users/:id',
  access: 'User:Query',
  summary: 'Read a user of an organization, project or account',
  tenants,
  input: { scope: Scope, id: uuid, ...relationsOf(User) },
  output: User.schema,
  target: User,
  run: ({ db, input, target }) => db.withRelations(User, target, input.relations),
});

export const createUser = mutation({
  rest: 'POST /users',
  whileImpersonating: 'refused',
  access: 'User:Create',
  summary: 'Create a managed or service user, or add an existing user to a project',
  description:
    'Exactly one of name (a new user without sign-in, managed by this scope) and userId (in a project: a member of its organization, or the owner or a service user of its account). roleIds: in an organization or account exactly one. kind `service`: a machine, in an organization or account; it acts by API keys of this scope, never signs in and never owns an organization.',
  sessionOnly: ({ kind }) => kind === 'service',
  permissionChange: 'additions',
  tenants,
  input: {
    scope: Scope,
    kind: UserKind.optional().describe(
      '`service` for a machine, which needs a session token; else a person.',
    ),
    name: User.patch.name,
    userId: uuid.optional().describe('A user to add to the project, instead of `name` for a new one.'),
    pictureUrl: User.patch.pictureUrl,
    metadata: User.create.metadata,
    roleIds: roleIds.optional(),
    tagIds: User.create.tagIds,
  },
  output: User.schema,
  dryRun: Impact,
  status: 201,
  codes: ['NOT_FOUND', 'PRIVILEGE_ESCALATION', 'CONFLICT', 'STEP_UP_REQUIRED'],
  run: async (ctx) => ctx.db.get(User, await addUser(ctx)),
});

export const updateUser = mutation({
  rest: 'PATCH /users/:id',
  whileImpersonating: 'refused',
  access: 'User:Update',
  summary: 'Change the membership of a user in the scope, and the profile of a managed user',
  description:
    'metadata replaces the metadata of the membership in this scope; answers of a project merge it over that of the organization. name, pictureUrl and status can be changed for users that this scope manages. Callers cannot change their own roles or metadata.',
  permissionChange: 'additions',
  tenants,
  input: {
    scope: Scope,
    id: uuid,
    ...User.patch,
    status: ChangeableStatus.optional(),
    roleIds: roleIds.optional(),
  },
  output: User.schema,
  dryRun: Impact,
  target: User,
  codes: ['PRIVILEGE_ESCALATION', 'LAST_OWNER', 'STEP_UP_REQUIRED'],
  run: async (ctx) => {
    if (ctx.input.roleIds) assertRoleCount(ctx.scope, ctx.input.roleIds);
    return changeUser(ctx);
  },
});

export const deleteUser = mutation({
  rest: 'DELETE /users/:id',
  whileImpersonating: 'refused',
  access: 'User:Delete',
  summary: 'Remove a user from the organization and its projects, or from the project or account',
  description:
    'The user leaves only this scope; a managed user without another membership is deleted, and so is a service user that leaves its account. deletedAt is the time of leaving.',
  tenants,
  input: { scope: Scope, id: uuid },
  output: User.schema,
  dryRun: Impact,
  target: User,
  codes: ['PRIVILEGE_ESCALATION', 'LAST_OWNER', 'STEP_UP_REQUIRED'],
  run: async (ctx) => {
    const { input, target, tx } = ctx;
    await lockMembership(ctx, input.id);
    await leave(ctx, input.id);
    const [after] = await tx
      .select({ updatedAt: userTable.updatedAt, leftAt: sql<string>`now()::timestamptz(3)` })
      .from(userTable)
      .where(eq(userTable.id, input.id));
    // The user is deleted from the view of this scope, even if they have other memberships.
    return after ? { ...target, updatedAt: after.updatedAt, deletedAt: instant(after.leftAt) } : target;
  },
});
