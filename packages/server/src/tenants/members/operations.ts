import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { Impact } from '../../access/dry-run/impact.ts';
import { equals } from '../../db/query/filters.ts';
import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { uuid } from '../../kernel/input/values.ts';
import { changeMemberRole, leaveOrganization, lockMember } from '../../members/organization.ts';
import { Member } from '../../schema/tenants/member.ts';

const tenants: readonly Tenant[] = ['organization'];

export const organizationMembers = query({
  rest: 'GET /organization-members',
  access: 'OrganizationMember:Query',
  summary: 'List the members of an organization',
  tenants,
  input: {
    scope: Scope,
    ...paging(Member),
    roleId: uuid.optional().describe('Only members with this role.'),
  },
  output: pageOf(Member),
  run: ({ db, input }) => db.page(Member, input, [equals(Member, 'roleId', input.roleId)]),
});

export const updateOrganizationMember = mutation({
  rest: 'PATCH /organization-members/:userId',
  whileImpersonating: 'refused',
  access: 'OrganizationMember:Update',
  summary: 'Change the role of a member; effective at once',
  permissionChange: 'additions',
  tenants,
  input: {
    scope: Scope,
    userId: uuid.describe('Id of the member, which is that of the user.'),
    roleId: uuid.meta({
      description: 'The role that replaces the one the member has.',
      examples: [roleIdOf('Organization Viewer')],
    }),
  },
  output: Member.schema,
  dryRun: Impact,
  target: Member,
  codes: ['PRIVILEGE_ESCALATION', 'LAST_OWNER', 'STEP_UP_REQUIRED'],
  run: async (ctx) => {
    const { db, input } = ctx;
    if (!(await changeMemberRole(ctx, input.userId, input.roleId))) ctx.unchanged();
    return db.get(Member, input.userId);
  },
});

export const removeOrganizationMember = mutation({
  rest: 'DELETE /organization-members/:userId',
  whileImpersonating: 'refused',
  access: 'OrganizationMember:Remove',
  admits: ['self'],
  summary: 'Remove a member from the organization and all its projects, or leave the organization',
  tenants,
  input: { scope: Scope, userId: uuid.describe('Id of the member, which is that of the user.') },
  output: Member.schema,
  dryRun: Impact,
  target: Member,
  codes: ['PRIVILEGE_ESCALATION', 'LAST_OWNER', 'STEP_UP_REQUIRED'],
  run: async (ctx) => {
    const { db, input } = ctx;
    await lockMember(ctx, input.userId);
    const removed = await db.get(Member, input.userId);
    await leaveOrganization(ctx, input.userId);
    return removed;
  },
});
