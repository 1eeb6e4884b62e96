import { eq, and, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { endSessionsForOrganization } from '../../members/app-sessions.ts';
import { recordingsOf } from '../../members/grant-entries.ts';
import { fail } from '../../errors.ts';
import { isManagementKey, type Principal } from '../../kernel/context.ts';
import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { text, uuid } from '../../kernel/input/values.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { answerOffer } from './by-token.ts';
import { projectGrants, ProjectGrantStatus } from '../../schema/tenants/project-grant.ts';
import { withGrantStatus, withGrantDetails } from './organization-grant.ts';
import { OrganizationGrant } from '../../schema/tenants/organization-grant.ts';
import { closeSlice, placeOf, readGrant } from './store.ts';

const tenants: readonly Tenant[] = ['organization'];
const token = z
  .string()
  .min(1)
  .max(128)
  .meta({
    description: 'The token in the link of the mail.',
    examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
  });

async function readOwn({ db, tx }: { readonly db: ScopedDb; readonly tx: Executor }, id: string) {
  const [grant] = await withGrantDetails(tx, [await db.get(OrganizationGrant, id)]);
  if (!grant) throw fail('NOT_FOUND');
  return grant;
}

export const organizationGrants = query({
  rest: 'GET /organization-grants',
  access: 'ProjectGrant:Query',
  summary: 'List the projects of others that are granted to an organization',
  tenants,
  input: {
    scope: Scope,
    ...paging(OrganizationGrant),
    status: ProjectGrantStatus.optional().describe('Only grants with this status.'),
  },
  output: pageOf(OrganizationGrant),
  run: async ({ db, tx, input }) => {
    const page = await db.page(OrganizationGrant, input, [withGrantStatus(input.status)]);
    return { ...page, items: await withGrantDetails(tx, page.items) };
  },
});

export const organizationGrant = query({
  rest: 'GET /organization-grants/:id',
  access: 'ProjectGrant:Query',
  summary: 'Read a grant of an organization',
  tenants,
  input: { scope: Scope, id: uuid },
  output: OrganizationGrant.schema,
  target: OrganizationGrant,
  run: (ctx) => readOwn(ctx, ctx.input.id),
});

/**
 * Whether the operation requires a session of this caller. Only keys of the organization or its account may answer an
 * offer without one.
 */
const isOtherKey = (_: unknown, principal: Principal): boolean => !isManagementKey(principal);

export const acceptProjectGrant = mutation({
  rest: 'POST /project-grants/accept',
  whileImpersonating: 'refused',
  emits: 'project_grant.accepted',
  access: 'ProjectGrant:Accept',
  summary: 'Accept an offered project for an organization',
  description:
    'The answer has the scope in which the members of the organization use the project from now on.',
  sessionOnly: isOtherKey,
  tenants,
  input: { scope: Scope, token },
  output: OrganizationGrant.schema,
  codes: ['INVALID_TOKEN', 'CONFLICT', 'SESSION_REQUIRED'],
  run: async (ctx) => readOwn(ctx, await answerOffer(ctx, ctx.input.token, 'active')),
});

export const declineProjectGrant = mutation({
  rest: 'POST /project-grants/decline',
  whileImpersonating: 'refused',
  emits: 'project_grant.declined',
  access: 'ProjectGrant:Accept',
  summary: 'Decline an offered project',
  description: 'The owner of the project does not learn which organization declined.',
  sessionOnly: isOtherKey,
  tenants,
  input: { scope: Scope, token },
  output: z
    .object({ success: z.literal(true).describe('Always true.') })
    .meta({ id: 'OfferDeclined', description: 'The offer was declined.' }),
  codes: ['INVALID_TOKEN', 'SESSION_REQUIRED'],
  run: async (ctx) => {
    await answerOffer(ctx, ctx.input.token, 'declined');
    return { success: true as const };
  },
});

export const leaveProjectGrant = mutation({
  rest: 'POST /organization-grants/:id/leave',
  whileImpersonating: 'refused',
  emits: 'project_grant.revoked',
  access: 'ProjectGrant:Leave',
  summary: 'Give a granted project up, with all that the organization has in it',
  sessionOnly: true,
  stepUp: true,
  tenants,
  input: {
    scope: Scope,
    id: uuid,
    reason: text(1, 255)
      .optional()
      .meta({ description: 'Why, for both sides.', examples: ['No longer used'] }),
  },
  output: OrganizationGrant.schema,
  target: OrganizationGrant,
  codes: ['INVALID_STATE'],
  run: async (ctx) => {
    const { tx, scope, services, input } = ctx;
    const at = { scope, now: services.clock.now() };
    await withoutRls(tx, async () => {
      const [locked] = await tx
        .select({ status: projectGrants.status, projectId: projectGrants.tenantId })
        .from(projectGrants)
        .where(
          and(
            eq(projectGrants.id, input.id),
            eq(projectGrants.organizationId, scope.nodeId),
            isNull(projectGrants.deletedAt),
          ),
        )
        .for('update');
      if (!locked) throw fail('NOT_FOUND');
      const { status, projectId } = locked;
      if (status !== 'active' && status !== 'suspended')
        throw fail('INVALID_STATE', { params: { state: status } });
      const { project } = await placeOf(tx, projectId);
      const revoked = {
        status: 'revoked',
        revokedBy: 'grantee',
        revokedReason: input.reason ?? null,
      } as const;
      await tx
        .update(projectGrants)
        .set({ ...revoked, revokedAt: at.now, updatedAt: at.now })
        .where(eq(projectGrants.id, input.id));
      await endSessionsForOrganization(ctx, scope.nodeId, { projectId });
      ctx.invalidate(`node:${projectId}`, ...(await closeSlice(tx, input.id)));
      const grant = await readGrant(tx, at, input.id);
      const changes = { status: { from: status, to: 'revoked' } };
      recordingsOf(scope, project, grant, { event: 'project_grant.revoked', changes }).forEach(ctx.record);
    });
    return readOwn(ctx, input.id);
  },
});
