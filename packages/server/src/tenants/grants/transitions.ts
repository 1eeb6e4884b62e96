import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import { isDeepStrictEqual } from 'node:util';
import { evaluate } from '@doorward/decision/evaluate';
import { mustComeThroughProvider } from '../../access/credentials/company-address.ts';
import { assertCanGrant } from '../../access/delegation/delegation.ts';
import { isWithinPin } from '../../access/reach.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import type { Context, Run } from '../../services.ts';
import type { Changes } from '../../kernel/event.ts';
import type { GrantFeature } from '../../kernel/scope.ts';
import type { ScopedDb } from '../../kernel/scoped-db.ts';
import { assertReachable } from '../../sign-in/addresses/registration.ts';
import { endSessionsForOrganization } from '../../members/app-sessions.ts';
import { recordingsOf } from '../../members/grant-entries.ts';
import type { MembershipRun } from '../../members/role-assignment.ts';
import { roles } from '../../schema/rights/role.ts';
import {
  ProjectGrant,
  projectGrantRoles,
  projectGrants,
  projectGrantTokens,
  type GrantStatus,
} from '../../schema/tenants/project-grant.ts';
import { assertWithinLimits } from './limits.ts';
import { newOfferEnd, sendOffer } from './offer.ts';
import { removeRoles } from './removed-roles.ts';
import {
  assertCanReceiveGrant,
  closeSlice,
  lockGrant,
  openSlice,
  placeOf,
  readGrant,
  type GrantRow,
} from './store.ts';

/*
 * Changes that the owner of a project makes to a grant. Each change locks the row of the grant first, so the second of
 * two concurrent changes reads the state that the first one set.
 */

type GrantingRun = Run &
  MembershipRun &
  Pick<Context, 'unchanged'> & {
    readonly db: ScopedDb;
  };

interface Fields {
  readonly name: string;
  readonly roleIds: readonly string[];
  readonly defaultRoleId: string | null;
  readonly metadata: GrantRow['metadata'];
  readonly maxUsers: number | null;
  readonly features?: readonly GrantFeature[] | undefined;
}

interface NewGrant extends Fields {
  readonly email?: string | undefined;
  readonly organizationId?: string | undefined;
}

const at = ({ scope, services }: GrantingRun) => ({ scope, now: services.clock.now() });

/** Creates an active grant, or mails an offer. @throws VALIDATION_ERROR, NOT_FOUND, PRIVILEGE_ESCALATION, CONFLICT */
export async function create(ctx: GrantingRun, input: NewGrant): Promise<GrantRow> {
  const { tx, db, scope, services } = ctx;
  const { email, organizationId } = input;
  if ((email === undefined) === (organizationId === undefined)) {
    const path = email === undefined ? 'email' : 'organizationId';
    throw fail('VALIDATION_ERROR', {
      details: [{ path, code: email === undefined ? 'required' : 'excluded' }],
      fix: 'Send email to mail an offer, or organizationId of an organization in which you may accept grants.',
    });
  }
  assertDefaultRole(input.defaultRoleId, input.roleIds);
  if (email !== undefined) assertReachable(services, email, 'email');
  await assertGrantable(ctx, input.roleIds);
  if (organizationId !== undefined) await assertMayAcceptIn(ctx, organizationId);
  const userId = callerOf(ctx).userId;
  const accepted = organizationId === undefined ? null : services.clock.now();
  const { id } = await db.insert(ProjectGrant, {
    name: input.name,
    metadata: input.metadata,
    defaultRoleId: input.defaultRoleId,
    maxUsers: input.maxUsers,
    organizationId: null,
    email: email ?? null,
    features: [...(input.features ?? ['apiKeys', 'webhooks', 'audit'])],
    status: 'pending',
    expiresAt: newOfferEnd(services),
    createdBy: userId,
  });
  await linkRoles(ctx, id, input.roleIds);
  await assertWithinLimits(ctx);
  if (organizationId !== undefined) {
    await withoutRls(tx, async () => {
      await assertCanReceiveGrant(tx, organizationId, await placeOf(tx, scope.nodeId), 'organizationId');
      await openSlice(tx, id, scope.nodeId);
    });
    await tx
      .update(projectGrants)
      .set({ status: 'active', organizationId, acceptedBy: userId, acceptedAt: accepted, expiresAt: null })
      .where(eq(projectGrants.id, id));
  }
  const grant = await readGrant(tx, at(ctx), id);
  if (email !== undefined) await sendOffer(ctx, grant, email);
  recordAll(ctx, grant, 'project_grant.created');
  return grant;
}

/** Changes a grant, and the roles in its slice. @throws NOT_FOUND, PRIVILEGE_ESCALATION, INVALID_STATE */
export async function update(
  ctx: GrantingRun,
  { id, ...input }: { readonly id: string } & { readonly [K in keyof Fields]?: Fields[K] | undefined },
): Promise<GrantRow> {
  const { tx, invalidate } = ctx;
  const before = await lockInState(ctx, id, ['pending', 'active', 'suspended']);
  const { roleIds = before.roleIds, ...columns } = input;
  assertDefaultRole(
    columns.defaultRoleId === undefined ? before.defaultRoleId : columns.defaultRoleId,
    roleIds,
  );
  const added = roleIds.filter((roleId) => !before.roleIds.includes(roleId));
  const removed = before.roleIds.filter((roleId) => !roleIds.includes(roleId));
  await assertGrantable(ctx, added);
  // Conditions read the metadata, so changing it may give the customer everything that the roles contain.
  if (columns.metadata && !isDeepStrictEqual(columns.metadata, before.metadata))
    await assertCanGrant(tx, ctx.scope, ctx.rights, { roleIds });
  const wanted = { ...columns, roleIds };
  const changed = (Object.keys(wanted) as (keyof typeof wanted)[]).filter(
    (key) => wanted[key] !== undefined && !isDeepStrictEqual(wanted[key], before[key]),
  );
  if (changed.length === 0) {
    ctx.unchanged();
    return before;
  }
  await tx
    .update(projectGrants)
    .set({
      ...(columns.name !== undefined && { name: columns.name }),
      ...(columns.metadata !== undefined && { metadata: columns.metadata }),
      ...(columns.defaultRoleId !== undefined && { defaultRoleId: columns.defaultRoleId }),
      ...(columns.maxUsers !== undefined && { maxUsers: columns.maxUsers }),
      ...(columns.features !== undefined && { features: [...columns.features] }),
      updatedAt: sql`now()`,
    })
    .where(eq(projectGrants.id, id));
  await linkRoles(ctx, id, added);
  if (removed.length > 0) {
    await tx
      .delete(projectGrantRoles)
      .where(and(eq(projectGrantRoles.fromId, id), inArray(projectGrantRoles.toId, removed)));
  }
  const revokedKeys = removed.length > 0 ? await withoutRls(tx, () => removeRoles(ctx, before, removed)) : [];
  invalidate(`node:${id}`, `keys:${id}`);
  const grant = await readGrant(tx, at(ctx), id);
  const changes: Changes = Object.fromEntries(
    changed.map((key) => [key, { from: before[key], to: grant[key] }]),
  );
  recordAll(ctx, grant, 'project_grant.updated', { changes });
  revokedKeys.forEach(ctx.record);
  return grant;
}

/** Mails a new link, valid for seven days, in place of the earlier one. @throws NOT_FOUND, INVALID_STATE */
export async function resend(ctx: GrantingRun, id: string): Promise<GrantRow> {
  const { email } = await lockInState(ctx, id, ['pending']);
  const expiresAt = newOfferEnd(ctx.services);
  await ctx.tx
    .update(projectGrants)
    .set({ expiresAt, updatedAt: sql`now()` })
    .where(eq(projectGrants.id, id));
  const grant = await readGrant(ctx.tx, at(ctx), id);
  if (email !== null) await sendOffer(ctx, grant, email);
  return grant;
}

/** Suspends or resumes a grant. Its roles and keys stay, and work again later. @throws NOT_FOUND, INVALID_STATE */
export async function setStatus(
  ctx: GrantingRun,
  id: string,
  status: 'active' | 'suspended',
  reason?: string,
): Promise<GrantRow> {
  const before = await lockInState(ctx, id, [status === 'active' ? 'suspended' : 'active']);
  await ctx.tx
    .update(projectGrants)
    .set({ status, revokedReason: status === 'suspended' ? (reason ?? null) : null, updatedAt: sql`now()` })
    .where(eq(projectGrants.id, id));
  if (status === 'suspended') await endSessions(ctx, before);
  ctx.invalidate(`node:${id}`, `keys:${id}`);
  const grant = await readGrant(ctx.tx, at(ctx), id);
  const event = status === 'active' ? 'project_grant.resumed' : 'project_grant.suspended';
  const metadata = status === 'active' && reason !== undefined ? { reason } : undefined;
  recordAll(ctx, grant, event, { changes: { status: { from: before.status, to: status } }, metadata });
  return grant;
}

/** Ends the grant for good and deletes its slice with everything in it. @throws NOT_FOUND, INVALID_STATE */
export async function revoke(ctx: GrantingRun, id: string, reason?: string): Promise<GrantRow> {
  const { tx, services } = ctx;
  const before = await lockInState(ctx, id, ['pending', 'active', 'suspended']);
  await tx
    .update(projectGrants)
    .set({
      status: 'revoked',
      revokedBy: 'owner',
      revokedAt: services.clock.now(),
      revokedReason: reason ?? null,
      updatedAt: sql`now()`,
    })
    .where(eq(projectGrants.id, id));
  await tx.delete(projectGrantTokens).where(eq(projectGrantTokens.grantId, id));
  await endSessions(ctx, before);
  if (before.organizationId !== null) ctx.invalidate(...(await closeSlice(tx, id)));
  const grant = await readGrant(tx, at(ctx), id);
  const changes = { status: { from: before.status, to: 'revoked' } };
  recordAll(ctx, grant, 'project_grant.revoked', { changes });
  return grant;
}

/** Ends the sessions that users of the customer have in apps of the project. */
async function endSessions(ctx: GrantingRun, { organizationId, projectId }: GrantRow): Promise<void> {
  if (organizationId !== null) await endSessionsForOrganization(ctx, organizationId, { projectId });
}

type Facts = Omit<Parameters<typeof recordingsOf>[3], 'event'>;

function recordAll(ctx: GrantingRun, grant: GrantRow, event: string, facts: Facts = {}): void {
  const { nodeId, tenant, id } = ctx.scope;
  const project = { id: nodeId, scope: { tenant, id } };
  recordingsOf(ctx.scope, project, grant, { event, ...facts }).forEach(ctx.record);
}

async function lockInState(ctx: GrantingRun, id: string, allowed: readonly GrantStatus[]): Promise<GrantRow> {
  const grant = await lockGrant(ctx.tx, at(ctx), id);
  if (!allowed.includes(grant.status)) throw fail('INVALID_STATE', { params: { state: grant.status } });
  return grant;
}

/**
 * Asserts that these are roles of the project itself, and that the caller holds all of their permissions. Share-locks
 * the roles, so that none can be deleted before it is granted.
 * @throws NOT_FOUND, PRIVILEGE_ESCALATION
 */
async function assertGrantable(ctx: GrantingRun, roleIds: readonly string[]): Promise<void> {
  if (roleIds.length === 0) return;
  const rows = await ctx.tx
    .select({ id: roles.id })
    .from(roles)
    .where(
      and(inArray(roles.id, [...roleIds]), eq(roles.tenantId, ctx.scope.nodeId), isNull(roles.deletedAt)),
    )
    .for('share');
  if (rows.length !== new Set(roleIds).size)
    throw fail('NOT_FOUND', { fix: 'Name only roles of this project in roleIds.' });
  await assertCanGrant(ctx.tx, ctx.scope, ctx.rights, { roleIds });
}

/** @throws VALIDATION_ERROR */
function assertDefaultRole(defaultRoleId: string | null, roleIds: readonly string[]): void {
  if (defaultRoleId === null || roleIds.includes(defaultRoleId)) return;
  throw fail('VALIDATION_ERROR', {
    details: [{ path: 'defaultRoleId', code: 'not_allowed' }],
    fix: 'Name one of roleIds as defaultRoleId, or send null.',
  });
}

async function linkRoles({ tx, scope }: GrantingRun, id: string, roleIds: readonly string[]): Promise<void> {
  if (roleIds.length === 0) return;
  const { nodeId } = scope;
  await tx
    .insert(projectGrantRoles)
    .values(roleIds.map((toId) => ({ tenantId: nodeId, fromId: id, toId, toTenantId: nodeId })));
}

/** Asserts that the caller may accept a grant for the organization. @throws NOT_FOUND, as for an unknown one */
async function assertMayAcceptIn(ctx: GrantingRun, organizationId: string): Promise<void> {
  const principal = callerOf(ctx);
  const { resolver } = ctx.services;
  const mayAccept = await withoutRls(ctx.tx, async () => {
    const inside = await resolver.scopeOf({ tenant: 'organization', id: organizationId }, ctx.tx);
    if (!inside || !isWithinPin(principal, inside)) return false;
    // The same conditions as for every call in that organization (`assertSessionGates`, `assertConnected`).
    if (
      principal.type === 'session' &&
      (!principal.emailVerified || (inside.requireMfa && principal.acr === 'aal1'))
    )
      return false;
    const { grants, subject } = await resolver.rightsOfUser(inside, principal.userId, ctx.tx);
    if (await mustComeThroughProvider(ctx.tx, principal, inside, subject.memberRoleId)) return false;
    return evaluate(grants, { resource: 'ProjectGrant', action: 'Accept' }).authorized;
  });
  if (mayAccept) return;
  throw fail('NOT_FOUND', {
    fix: 'Name an organization in which you hold ProjectGrant:Accept, or send email to mail an offer.',
  });
}
