import { eq, inArray, sql } from 'drizzle-orm';
import { Impact } from '../../access/impact.ts';
import { instant } from '../../db/rows.ts';
import { linkIds } from '../../kernel/entity.ts';
import { pageOf, paging, relationsOf } from '../../kernel/inputs.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { uuid } from '../../values.ts';
import { assertRoleCount, leave, lockMembership, wearersOf } from '../memberships/in-scope.ts';
import { add } from './adding.ts';
import { change } from './changing.ts';
import { User, users as userTable, UserStatus } from './user.ts';

const tenants: readonly Tenant[] = ['organization', 'accountProject', 'organizationProject'];
const roleIds = linkIds(20).describe('Roles of the user in the scope, in place of all that they had.');

export const users = query({
  rest: 'GET /users',
  access: 'User:Query',
  summary: 'List the members of an organization, or the users of a project',
  tenants,
  input: { scope: Scope, ...paging(User), roleId: uuid.optional().describe('Only users with this role.') },
  output: pageOf(User),
  run: ({ db, input, scope }) =>
    db.page(User, input, [
      input.roleId === undefined ? undefined : inArray(userTable.id, wearersOf(scope, input.roleId)),
    ]),
});

export const user = query({
  rest: 'GET /users/:id',
  access: 'User:Query',
  summary: 'Read a user of an organization or project',
  tenants,
  input: { scope: Scope, id: uuid, ...relationsOf(User) },
  output: User.schema,
  target: User,
  run: ({ db, input, target }) => db.withRelations(User, target, input.relations),
});

export const createUser = mutation({
  rest: 'POST /users',
  access: 'User:Create',
  summary: 'Create a managed user, or add a known one to a project',
  description:
    'Exactly one of name (a new user without sign-in, managed by this scope) and userId (in a project: a member of its organization, or the owner of its account). roleIds: in an organization exactly one.',
  addsRights: true,
  tenants,
  input: {
    scope: Scope,
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
  run: async (ctx) => ctx.db.get(User, await add(ctx)),
});

export const updateUser = mutation({
  rest: 'PATCH /users/:id',
  access: 'User:Update',
  summary: 'Change what the scope says of a user; of its own managed users also who they are',
  description:
    'metadata replaces that of the membership in this scope: a project answers it over the values of its organization. name, pictureUrl and status are for users that this scope manages. Nobody changes his own roles or metadata.',
  addsRights: true,
  tenants,
  input: {
    scope: Scope,
    id: uuid,
    ...User.patch,
    status: UserStatus.optional(),
    roleIds: roleIds.optional(),
  },
  output: User.schema,
  dryRun: Impact,
  target: User,
  codes: ['PRIVILEGE_ESCALATION', 'LAST_OWNER', 'STEP_UP_REQUIRED'],
  run: async (ctx) => {
    if (ctx.input.roleIds) assertRoleCount(ctx.scope, ctx.input.roleIds);
    return change(ctx);
  },
});

export const deleteUser = mutation({
  rest: 'DELETE /users/:id',
  access: 'User:Delete',
  summary: 'Take a user out of the organization and its projects, or out of the project',
  description:
    'He leaves this scope only; a managed user who is in no other one is deleted. deletedAt is the moment of leaving.',
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
    // For this scope he is gone, whether or not he lives on elsewhere.
    return after ? { ...target, updatedAt: after.updatedAt, deletedAt: instant(after.leftAt) } : target;
  },
});
