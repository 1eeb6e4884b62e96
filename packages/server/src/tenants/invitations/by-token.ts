import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { permissionsOf } from '../../access/delegation/delegation.ts';
import { missingPermissions } from '../../access/delegation/escalation.ts';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { selectionOf } from '../../db/query/entity-columns.ts';
import { fail, type DoorwardError } from '../../errors.ts';
import type { Principal } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import type { RowOf } from '../../kernel/entity.ts';
import { projector } from '../../kernel/output/projector.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { iso, uuid } from '../../kernel/input/values.ts';
import { findAddressOwner, addressStatusOf } from '../../people/address.ts';
import {
  prepareInvited,
  registerInvited,
  type PreparedInvited,
} from '../../sign-in/addresses/registration.ts';
import { openSession, SignIn } from '../../sessions/sign-in.ts';
import { type UserRow, users } from '../../schema/people/user.ts';
import { userAsActor } from '../../people/user-node.ts';
import { lockClaimants } from '../../people/address-claims.ts';
import { lockUser } from '../../people/lock-user.ts';
import { isMembership } from '../../members/role-assignment.ts';
import { organizationMembers } from '../../schema/rights/membership.ts';
import { endUnboundSessions } from '../../members/app-sessions.ts';
import { joinOrganization } from '../../members/organization.ts';
import { watchForExcessKeys } from '../../members/excess-keys/excess-keys.ts';
import { Member } from '../../schema/tenants/member.ts';
import { organizations } from '../../schema/tenants/organization.ts';
import { roles } from '../../schema/rights/role.ts';
import {
  Invitation,
  invitations,
  InvitationStatus,
  invitationStatus,
  invitationTokens,
  inviterName,
} from '../../schema/tenants/organization-invitation.ts';
import { joinGrantedProjects } from './invited-grants.ts';
import { lockInvitation, type InvitationRow } from './transitions.ts';

/**
 * An invitation as the holder of the mailed token can read and accept it. The token of an accepted or expired
 * invitation can still be used to read its status; a revoked or replaced token is unknown.
 */
export const PublicInvitation = z
  .object({
    email: z.string().describe('The address that was invited.'),
    status: InvitationStatus.describe('Its status.'),
    expiresAt: iso.describe('Until when it can be accepted.'),
    organization: z.object({ name: z.string().describe('Its name.') }).describe('The organization to join.'),
    role: z.object({ name: z.string().describe('Its name.') }).describe('The role of the new member.'),
    inviter: z
      .object({ name: z.string().describe('Their name.') })
      .describe('The user who sent the invitation; the organization, if a machine did.'),
    registered: z.boolean().meta({ description: 'Whether a user has verified the address.' }),
  })
  .meta({ id: 'PublicInvitation', description: 'An invitation, for the holder of its token.' });

export const AcceptedInvitation = z
  .object({
    invitation: Invitation.schema,
    organization: z
      .object({
        id: uuid.describe('Id of the organization.'),
        name: z.string().describe('Its name.'),
        slug: z.string().describe('Its short name.'),
      })
      .describe('The organization that was joined.'),
    member: Member.schema,
    isNewUser: z.boolean().describe('Whether the invitation created the user.'),
    signIn: SignIn.nullable().meta({
      description: 'The session of a new user; null if the caller was signed in.',
    }),
  })
  .meta({ id: 'AcceptedInvitation', description: 'The new membership, and the session of a new user.' });

const isToken = (token: string) => eq(invitationTokens.hash, hashOneTimeToken(token));

/** @throws NOT_FOUND, also if the organization was deleted */
async function findByToken(db: Executor, services: Services, token: string) {
  const [row] = await db
    .select({
      id: invitations.id,
      email: invitations.email,
      status: invitationStatus(services.clock.now()),
      expiresAt: invitations.expiresAt,
      organization: { id: organizations.id, name: organizations.name, slug: organizations.slug },
      role: { name: roles.name },
      inviter: { name: inviterName() },
    })
    .from(invitationTokens)
    .innerJoin(invitations, eq(invitations.id, invitationTokens.invitationId))
    .innerJoin(organizations, eq(organizations.id, invitations.tenantId))
    .innerJoin(roles, eq(roles.id, invitations.roleId))
    .innerJoin(users, eq(users.id, invitations.invitedBy))
    .where(and(isToken(token), isNull(invitations.deletedAt)));
  const scope =
    row && (await services.resolver.scopeOf({ tenant: 'organization', id: row.organization.id }, db));
  if (!scope) throw fail('NOT_FOUND');
  return { ...row, scope };
}

/** Returns the invitation of this token. @throws NOT_FOUND */
export async function readByToken(
  db: Executor,
  services: Services,
  token: string,
): Promise<z.output<typeof PublicInvitation>> {
  const invitation = await findByToken(db, services, token);
  return { ...invitation, registered: (await findAddressOwner(db, invitation.email)) !== undefined };
}

/** @throws NOT_FOUND if the invitation was revoked, INVALID_TOKEN if it expired, INVALID_STATE if it was accepted */
function assertPending(state: InvitationRow['status']): void {
  if (state === 'revoked') throw fail('NOT_FOUND');
  if (state === 'expired')
    throw fail('INVALID_TOKEN', { fix: 'Ask the person who invited you to renew the invitation.' });
  if (state !== 'pending') throw fail('INVALID_STATE', { params: { state } });
}

interface Acceptance {
  readonly token: string;
  readonly registration?: { readonly name: string; readonly password: string } | undefined;
}

/**
 * Hashes the password of a new user outside the transaction; a signed-in user needs no preparation. The token is
 * checked before the hash, so an unknown token costs no work. The response time reveals no more than the response.
 * @throws UNAUTHENTICATED, MFA_REQUIRED, VALIDATION_ERROR, CONFLICT, and as `assertPending`
 */
export async function prepareAcceptance(
  db: Executor,
  services: Services,
  principal: Principal | null,
  { token, registration }: Acceptance,
): Promise<PreparedInvited | null> {
  if (principal && registration) {
    throw fail('VALIDATION_ERROR', { details: [{ path: 'registration', code: 'excluded' }] });
  }
  // The guard does not check for a pending second factor in public operations.
  if (principal?.mfaPending) throw fail('MFA_REQUIRED');
  if (principal) return null;
  if (!registration) {
    throw fail('UNAUTHENTICATED', {
      headers: { 'WWW-Authenticate': 'Bearer' },
      fix: 'Sign in as the invited user, or send registration with a name and a password.',
    });
  }
  const { status, email } = await findByToken(db, services, token);
  assertPending(status);
  return prepareInvited(db, services, email, registration);
}

/**
 * Makes the caller, or the new user, a member with the role of the invitation. The first of concurrent calls succeeds;
 * the others wait for its lock and then read `accepted`.
 * @throws NOT_FOUND, INVALID_TOKEN, INVALID_STATE, FORBIDDEN, EMAIL_VERIFICATION_REQUIRED, CONFLICT
 */
export async function accept(
  run: Run & { readonly principal: Principal | null },
  token: string,
  prepared: PreparedInvited | null,
): Promise<z.output<typeof AcceptedInvitation>> {
  const { tx, services, principal } = run;
  const now = services.clock.now();
  const { id, email, organization, scope } = await findByToken(tx, services, token);
  const invitee = prepared ? null : await lockInvitee(run, principal);
  if (prepared) await lockClaimants(run, email);
  const at = { scope, now };
  const invitation = await lockInvitation(tx, at, id);
  // The token may have been replaced while this call waited for the lock.
  const [current] = await tx
    .select({ hash: invitationTokens.hash })
    .from(invitationTokens)
    .where(isToken(token));
  if (!current) throw fail('NOT_FOUND');
  if (invitee) await assertInvited(tx, invitee, email);
  assertPending(invitation.status);
  await assertInviterMayGrant(tx, services, scope, invitation);

  // A new user has no session yet, so the recordings name them as the actor explicitly.
  const actor = prepared ? userAsActor({ id: prepared.userId, name: prepared.registrant.name }) : undefined;
  const ctx: Run = { ...run, record: (recording) => run.record({ actor, ...recording }) };
  const [accepted] = await tx
    .update(invitations)
    .set({ status: 'accepted', acceptedAt: now, updatedAt: now })
    .where(eq(invitations.id, id))
    .returning(selectionOf(Invitation, at));
  ctx.record({
    node: { id: scope.nodeId, scope: { tenant: 'organization', id: scope.nodeId } },
    event: 'invitation.accepted',
    data: toInvitation(accepted) as InvitationRow,
    changes: { status: { from: 'pending', to: 'accepted' } },
    target: { type: 'OrganizationInvitation', id },
  });
  const user = invitee ?? (await registerInvited(ctx, prepared as PreparedInvited));
  const role = { id: invitation.roleId, tenantId: invitation.roleTenantId };
  // Joining can add rights in projects where the user is already a member. Keys that others created for the user are
  // revoked if they would gain these rights.
  const endOutgrownKeys = await watchForExcessKeys(tx, services.builtIns.nouns, scope.nodeId);
  await joinOrganization(ctx, { organizationId: scope.nodeId, userId: user.id, role, field: 'token' });
  await joinGrantedProjects(ctx, scope.nodeId, invitation, user.id);
  await endUnboundSessions(run, scope.nodeId, { userId: user.id });
  (await endOutgrownKeys(run.invalidate)).forEach(run.record);
  const signIn = prepared ? await openSession(ctx, prepared.session, user) : null;
  const [member] = await tx
    .select(selectionOf(Member, at))
    .from(organizationMembers)
    .where(isMembership(organizationMembers, scope.nodeId, user.id));
  return {
    invitation: accepted as InvitationRow,
    organization,
    member: member as RowOf<typeof Member>,
    isNewUser: prepared !== null,
    signIn,
  };
}

const toInvitation = projector(Invitation.schema);

/**
 * Locks the caller, because every code path locks users before invitations.
 * @throws UNAUTHENTICATED if the user was deleted or disabled in the meantime
 */
async function lockInvitee(ctx: Run, principal: Principal | null): Promise<UserRow> {
  const user = principal && (await lockUser(ctx, principal.userId));
  if (user?.status !== 'active') throw fail('UNAUTHENTICATED');
  return user;
}

/** Asserts that the user has verified the invited address. @throws FORBIDDEN, EMAIL_VERIFICATION_REQUIRED */
async function assertInvited(tx: Executor, user: UserRow, email: string): Promise<void> {
  const ownership = await addressStatusOf(tx, user, email);
  if (ownership === 'claimed') {
    throw fail('EMAIL_VERIFICATION_REQUIRED', {
      fix: 'Open the link in the verification mail, then accept.',
    });
  }
  if (ownership === 'foreign') {
    throw fail('FORBIDDEN', { fix: 'Sign in as the user whose verified address was invited.' });
  }
}

/**
 * Asserts that the inviter may still grant the role when the invitation is accepted (authorization §5).
 * @throws INVALID_STATE if the inviter left, was disabled or deleted, or lacks part of the role
 */
async function assertInviterMayGrant(
  tx: Executor,
  { resolver }: Services,
  scope: ResolvedScope,
  { invitedBy, roleId }: InvitationRow,
): Promise<void> {
  const { grants } = await resolver.rightsOfUser(scope, invitedBy, tx);
  const wanted = await permissionsOf(tx, scope, { roleIds: [roleId] });
  if (grants.membership === 'active' && missingPermissions(grants, wanted).length === 0) return;
  throw inviterLacksRights();
}

const inviterLacksRights = (): DoorwardError =>
  fail('INVALID_STATE', {
    params: { state: 'void' },
    fix: 'The person who sent this invitation may no longer grant its role: ask for a new one.',
  });
