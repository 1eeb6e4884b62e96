import { eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { rowsOf } from '../../db/statements/rows.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { pageOf, paging, relationsOf } from '../../kernel/input/inputs.ts';
import { text, uuid } from '../../kernel/input/values.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { assertCallerMay } from '../../access/caller-may.ts';
import { readOffer, ProjectGrantOffer } from './by-token.ts';
import { grantStatus, ProjectGrant, ProjectGrantStatus } from '../../schema/tenants/project-grant.ts';
import { withCounts } from './store.ts';
import { create, resend, revoke, setStatus, update } from './transitions.ts';

const tenants: readonly Tenant[] = ['accountProject', 'organizationProject'];
const reason = text(1, 255)
  .optional()
  .meta({ description: 'Why, for both sides.', examples: ['The contract has ended'] });

export const projectGrants = query({
  rest: 'GET /project-grants',
  access: 'ProjectGrant:Query',
  summary: 'List the customers to whom a project is granted',
  tenants,
  input: {
    scope: Scope,
    ...paging(ProjectGrant),
    status: ProjectGrantStatus.optional().describe('Only grants with this status.'),
  },
  output: pageOf(ProjectGrant),
  run: async ({ db, tx, input, services }) => {
    const status = grantStatus(services.clock.now());
    const page = await db.page(ProjectGrant, input, [input.status && eq(status, input.status)]);
    return { ...page, items: await withCounts(tx, page.items) };
  },
});

export const projectGrant = query({
  rest: 'GET /project-grants/:id',
  access: 'ProjectGrant:Query',
  summary: 'Read a grant of a project',
  tenants,
  input: { scope: Scope, id: uuid, ...relationsOf(ProjectGrant) },
  output: ProjectGrant.schema,
  target: ProjectGrant,
  run: async ({ db, tx, input, target }) => {
    const row = await db.withRelations(ProjectGrant, target, input.relations);
    const [counted] = await withCounts(tx, [row]);
    return counted ?? row;
  },
});

export const createProjectGrant = mutation({
  rest: 'POST /project-grants',
  whileImpersonating: 'refused',
  emits: 'project_grant.created',
  access: 'ProjectGrant:Create',
  summary: 'Grant a project to the organization of a customer',
  description:
    'With email a link is mailed, and its holder accepts for an organization of theirs. With organizationId of an organization in which you hold ProjectGrant:Accept, the grant is active at once. The members of the customer then use the project in the scope organizationProject `<organization>:<project>`.',
  tenants,
  input: { scope: Scope, ...ProjectGrant.create },
  output: ProjectGrant.schema,
  status: 201,
  codes: ['NOT_FOUND', 'PRIVILEGE_ESCALATION', 'CONFLICT'],
  run: (ctx) => create(ctx, ctx.input),
});

export const updateProjectGrant = mutation({
  rest: 'PATCH /project-grants/:id',
  whileImpersonating: 'refused',
  emits: 'project_grant.updated',
  access: 'ProjectGrant:Update',
  summary: 'Change a grant; roleIds replaces the whole set',
  description:
    'A role that is taken away ends at once for every user of the customer, and its keys are revoked. New roles and metadata need all that the roles contain.',
  tenants,
  input: { scope: Scope, id: uuid, ...ProjectGrant.patch },
  output: ProjectGrant.schema,
  target: ProjectGrant,
  codes: ['PRIVILEGE_ESCALATION', 'INVALID_STATE'],
  run: (ctx) => {
    const { scope: _, ...input } = ctx.input;
    return update(ctx, input);
  },
});

export const resendProjectGrant = mutation({
  rest: 'POST /project-grants/:id/resend',
  whileImpersonating: 'refused',
  access: 'ProjectGrant:Update',
  summary: 'Mail a pending offer again, for another seven days; the earlier link becomes invalid',
  permissionChange: 'none',
  tenants,
  input: { scope: Scope, id: uuid },
  output: ProjectGrant.schema,
  target: ProjectGrant,
  codes: ['INVALID_STATE'],
  run: (ctx) => resend(ctx, ctx.input.id),
});

export const suspendProjectGrant = mutation({
  rest: 'POST /project-grants/:id/suspend',
  whileImpersonating: 'refused',
  emits: 'project_grant.suspended',
  access: 'ProjectGrant:Update',
  summary: 'Suspend a grant: roles and keys of the customer stay, and have no effect',
  tenants,
  input: { scope: Scope, id: uuid, reason },
  output: ProjectGrant.schema,
  target: ProjectGrant,
  codes: ['INVALID_STATE'],
  run: (ctx) => setStatus(ctx, ctx.input.id, 'suspended', ctx.input.reason),
});

export const resumeProjectGrant = mutation({
  rest: 'POST /project-grants/:id/resume',
  whileImpersonating: 'refused',
  emits: 'project_grant.resumed',
  access: 'ProjectGrant:Update',
  summary: 'Resume a suspended grant, with the roles and keys that it had',
  description: 'The audit logs of both sides have the reason.',
  tenants,
  input: { scope: Scope, id: uuid, reason },
  output: ProjectGrant.schema,
  target: ProjectGrant,
  codes: ['INVALID_STATE'],
  run: (ctx) => setStatus(ctx, ctx.input.id, 'active', ctx.input.reason),
});

export const revokeProjectGrant = mutation({
  rest: 'POST /project-grants/:id/revoke',
  whileImpersonating: 'refused',
  emits: 'project_grant.revoked',
  access: 'ProjectGrant:Revoke',
  summary: 'Revoke a grant for good, with all that the customer has in the project',
  tenants,
  input: { scope: Scope, id: uuid, reason },
  output: ProjectGrant.schema,
  target: ProjectGrant,
  codes: ['INVALID_STATE'],
  run: (ctx) => revoke(ctx, ctx.input.id, ctx.input.reason),
});

const GrantUser = z
  .object({
    userId: uuid.describe('Id of the user.'),
    name: z.string().describe('Their name.'),
    roleIds: z.array(uuid).describe('Their roles in the project.'),
    lastSignInAt: z.iso
      .datetime()
      .nullable()
      .describe(
        'When they last signed in to an app of the project for the customer; null: never, or too long ago to be stored.',
      ),
  })
  .meta({ id: 'ProjectGrantUser', description: 'A user of a customer with roles in the granted project.' });

export const projectGrantUsers = query({
  rest: 'GET /project-grants/:id/users',
  access: 'ProjectGrant:Query',
  summary: 'List the users of a customer who have roles in the project',
  description: 'Also needs User:Query. Only users with roles, by id; neither addresses nor metadata.',
  tenants,
  input: {
    scope: Scope,
    id: uuid,
    limit: z.int().min(1).max(100).default(50).describe('The maximum number of users on a page.'),
    cursor: z
      .string()
      .min(1)
      .max(1024)
      .optional()
      .describe('Continues the list: `nextCursor` of the previous page.'),
  },
  output: z
    .object({
      items: z.array(GrantUser).describe('The users, by id.'),
      totalCount: z.int().describe('The number of users with roles.'),
      hasNextPage: z.boolean().describe('Whether another page follows.'),
      nextCursor: z.string().nullable().describe('Send it as `cursor` for the next page; null on the last.'),
    })
    .meta({
      id: 'ProjectGrantUserPage',
      description: 'Some of the users of a customer in a granted project.',
    }),
  target: ProjectGrant,
  codes: ['INVALID_CURSOR'],
  run: async ({ tx, scope, rights, input, target, services }) => {
    assertCallerMay(rights, 'User:Query');
    const binding = JSON.stringify(['projectGrantUsers', scope.id, target.id]);
    const after = input.cursor === undefined ? null : services.cursors.open(input.cursor, binding).id;
    const [row] = await withoutRls(tx, () =>
      rowsOf<{ users: z.output<typeof GrantUser>[]; total: number }>(
        tx,
        sql`with holders as (select u.id as "userId", u.name, array_agg(r.role_id order by r.role_id) as "roleIds"
            from project_user_roles r join users u on u.id = r.user_id and u.deleted_at is null
            where r.tenant_id = ${target.id}::uuid group by u.id, u.name)
          select (select count(*)::int from holders) as total,
            (select coalesce(json_agg(page order by page."userId"), '[]'::json) from (select *,
              (select to_char(max(s.authenticated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
                from sessions s join project_apps a on a.id = s.project_app_id and a.tenant_id = ${scope.nodeId}::uuid
                where s.user_id = "userId" and s.organization_id = ${target.organizationId}::uuid) as "lastSignInAt"
              from holders where ${after}::uuid is null or "userId" > ${after}::uuid
              order by "userId" limit ${input.limit + 1}) page) as users`,
      ),
    );
    const { users = [], total: totalCount = 0 } = row ?? {};
    const items = users.slice(0, input.limit);
    const last = users.length > input.limit ? items.at(-1) : undefined;
    return {
      items,
      totalCount,
      hasNextPage: last !== undefined,
      nextCursor: last ? services.cursors.seal({ value: '', id: last.userId }, binding) : null,
    };
  },
});

export const projectGrantOffer = query({
  rest: 'GET /project-grants/offer/:token',
  access: 'public',
  limit: 'network',
  summary: 'Read an offer with the token of its mail',
  input: {
    token: z
      .string()
      .min(1)
      .max(128)
      .meta({
        description: 'The token in the link of the mail.',
        examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
      }),
  },
  output: ProjectGrantOffer,
  codes: ['NOT_FOUND'],
  run: ({ tx, services, input }) => readOffer(tx, services, input.token),
});
