import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { permissionsOf } from '../../access/giving.ts';
import { missingPermissions } from '../../access/subset.ts';
import { hashOneTimeToken } from '../../crypto/one-time-token.ts';
import { selectionOf } from '../../db/columns.ts';
import { fail, type DoorwardError } from '../../errors.ts';
import type { Principal, Services } from '../../kernel/context.ts';
import type { RowOf } from '../../kernel/entity.ts';
import { projector } from '../../kernel/project.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { iso, uuid } from '../../values.ts';
import { ownerOf, standingOf } from '../identity/address.ts';
import { prepareInvited, registerInvited, type PreparedInvited } from '../identity/registration.ts';
import { openSession, SignIn, type Run, type UserRow } from '../identity/sign-in.ts';
import { userAsActor } from '../identity/user-node.ts';
import { lockClaimants, lockUser } from '../identity/verification.ts';
import { isMembership } from '../memberships/giving-roles.ts';
import { organizationMembers } from '../memberships/membership.ts';
import { joinOrganization } from '../memberships/organization.ts';
import { watchKeysOfOthers } from '../memberships/outgrown-keys.ts';
import { Member } from '../organization-members/member.ts';
import { organizations } from '../organizations/organization.ts';
import { roles } from '../roles/role.ts';
import { users } from '../users/user.ts';
import {
  Invitation,
  invitations,
  InvitationStatus,
  invitationStatus,
  invitationTokens,
} from './invitation.ts';
import { lockInvitation, type InvitationRow } from './transitions.ts';

/**
 * An invitation as the holder of the mailed token sees it: he may look at it and accept it. The token stays known after
 * the invitation was accepted or ran out, so that its holder is told so; a revoked or replaced one leads nowhere.
 */
export const PublicInvitation = z
  .object({
    email: z.string().describe('The address that was invited.'),
    status: InvitationStatus.describe('What has become of it.'),
    expiresAt: iso.describe('Until when it can be accepted.'),
    organization: z.object({ name: z.string().describe('Its name.') }).describe('The organization to join.'),
    role: z.object({ name: z.string().describe('Its name.') }).describe('The role of the new member.'),
    inviter: z.object({ name: z.string().describe('Their name.') }).describe('Who invites.'),
    registered: z.boolean().meta({ description: 'Whether a user has proved that the address is his.' }),
  })
  .meta({ id: 'PublicInvitation', description: 'What an invitation tells the holder of its token.' });

export const AcceptedInvitation = z
  .object({
    invitation: Invitation.schema,
    organization: z
      .object({
        id: uuid.describe('Id of the organization.'),
        name: z.string().describe('What people call it.'),
        slug: z.string().describe('Its short name.'),
      })
      .describe('The organization that was joined.'),
    member: Member.schema,
    isNewUser: z.boolean().describe('Whether the invitation created the user.'),
    signIn: SignIn.nullable().meta({
      description: 'The session of a new user; null for one who has signed in.',
    }),
  })
  .meta({ id: 'AcceptedInvitation', description: 'The new membership, and for a new user his session.' });

const isToken = (token: string) => eq(invitationTokens.hash, hashOneTimeToken(token));

/** @throws NOT_FOUND, also when the organization is gone */
async function find(db: Executor, services: Services, token: string) {
  const [found] = await db
    .select({
      id: invitations.id,
      email: invitations.email,
      status: invitationStatus(services.clock.now()),
      expiresAt: invitations.expiresAt,
      organization: { id: organizations.id, name: organizations.name, slug: organizations.slug },
      role: { name: roles.name },
      inviter: { name: users.name },
    })
    .from(invitationTokens)
    .innerJoin(invitations, eq(invitations.id, invitationTokens.invitationId))
    .innerJoin(organizations, eq(organizations.id, invitations.tenantId))
    .innerJoin(roles, eq(roles.id, invitations.roleId))
    .innerJoin(users, eq(users.id, invitations.invitedBy))
    .where(and(isToken(token), isNull(invitations.deletedAt)));
  const scope =
    found && (await services.resolver.scopeOf({ tenant: 'organization', id: found.organization.id }, db));
  if (!scope) throw fail('NOT_FOUND');
  return { ...found, scope };
}

/** @throws NOT_FOUND */
export async function lookUp(
  db: Executor,
  services: Services,
  token: string,
): Promise<z.output<typeof PublicInvitation>> {
  const found = await find(db, services, token);
  return { ...found, registered: (await ownerOf(db, found.email)) !== undefined };
}

/** @throws NOT_FOUND, INVALID_TOKEN when the time is over, INVALID_STATE when it was accepted */
function assertPending(state: InvitationRow['status']): void {
  if (state === 'revoked') throw fail('NOT_FOUND');
  if (state === 'expired')
    throw fail('INVALID_TOKEN', { fix: 'Ask whoever invited you to renew the invitation.' });
  if (state !== 'pending') throw fail('INVALID_STATE', { params: { state } });
}

interface Acceptance {
  readonly token: string;
  readonly registration?: { readonly name: string; readonly password: string } | undefined;
}

/**
 * What accepting needs beforehand: nothing for somebody who has signed in, a hashed password for a new user. Only the
 * holder of a token that is good gets as far as the hash: others cost no work, and learn no more from the time of their
 * answer than from the answer itself.
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
  // A public operation, so the gate of step 4 did not ask; whoever accepts as himself acts as a session.
  if (principal?.mfaPending) throw fail('MFA_REQUIRED');
  if (principal) return null;
  if (!registration) {
    throw fail('UNAUTHENTICATED', {
      headers: { 'WWW-Authenticate': 'Bearer' },
      fix: 'Sign in as the invited user, or send registration with a name and a password.',
    });
  }
  const { status, email } = await find(db, services, token);
  assertPending(status);
  return prepareInvited(db, services, email, registration);
}

/**
 * Makes the caller, or the new user, a member with the role of the invitation. Of those who accept one at the same time
 * the first wins; the others wait for its lock and meet it accepted.
 * @throws NOT_FOUND, INVALID_TOKEN, INVALID_STATE, FORBIDDEN, EMAIL_VERIFICATION_REQUIRED, CONFLICT
 */
export async function accept(
  given: Run & { readonly principal: Principal | null },
  token: string,
  prepared: PreparedInvited | null,
): Promise<z.output<typeof AcceptedInvitation>> {
  const { tx, services, principal } = given;
  const now = services.clock.now();
  const { id, email, organization, scope } = await find(tx, services, token);
  const known = prepared ? null : await lockInvitee(given, principal);
  if (prepared) await lockClaimants(given, email);
  const at = { scope, now };
  const invitation = await lockInvitation(tx, at, id);
  // Replaced while this call waited for the lock?
  const [current] = await tx
    .select({ hash: invitationTokens.hash })
    .from(invitationTokens)
    .where(isToken(token));
  if (!current) throw fail('NOT_FOUND');
  if (known) await assertInvited(tx, known, email);
  assertPending(invitation.status);
  await assertMayStillInvite(tx, services, scope, invitation);

  // A new user acts by his token, before there is a session that could name him.
  const actor = prepared ? userAsActor({ id: prepared.userId, name: prepared.newcomer.name }) : undefined;
  const ctx: Run = { ...given, record: (recording) => given.record({ actor, ...recording }) };
  const [accepted] = await tx
    .update(invitations)
    .set({ status: 'accepted', acceptedAt: now, updatedAt: now })
    .where(eq(invitations.id, id))
    .returning(selectionOf(Invitation, at));
  ctx.record({
    node: { id: scope.nodeId, scope: { tenant: 'organization', id: scope.nodeId } },
    event: 'invitation.accepted',
    data: projectInvitation(accepted) as InvitationRow,
    changes: { status: { from: 'pending', to: 'accepted' } },
    target: { type: 'OrganizationInvitation', id },
  });
  const user = known ?? (await registerInvited(ctx, prepared as PreparedInvited));
  const role = { id: invitation.roleId, tenantId: invitation.roleTenantId };
  // A member of one of its projects holds more there once they join the organization.
  const endOutgrownKeys = await watchKeysOfOthers(tx, services.builtIns.nouns, scope.nodeId);
  await joinOrganization(ctx, { organizationId: scope.nodeId, userId: user.id, role, field: 'token' });
  (await endOutgrownKeys(given.touch)).forEach(given.record);
  const signIn = prepared ? await openSession(ctx, prepared.session, user) : null;
  const [member] = await tx
    .select(selectionOf(Member, at))
    .from(organizationMembers)
    .where(isMembership(organizationMembers, scope.nodeId, user.id));
  return {
    invitation: accepted as unknown as InvitationRow,
    organization,
    member: member as unknown as RowOf<typeof Member>,
    isNewUser: prepared !== null,
    signIn,
  };
}

const projectInvitation = projector(Invitation.schema);

/** Users are locked before invitations, everywhere. @throws UNAUTHENTICATED when he was deleted or disabled meanwhile */
async function lockInvitee(ctx: Run, principal: Principal | null): Promise<UserRow> {
  const user = principal && (await lockUser(ctx, principal.userId));
  if (user?.status !== 'active') throw fail('UNAUTHENTICATED');
  return user;
}

/** @throws FORBIDDEN, EMAIL_VERIFICATION_REQUIRED: an invitation is for whoever reads the mails of its address */
async function assertInvited(tx: Executor, user: UserRow, email: string): Promise<void> {
  const standing = await standingOf(tx, user, email);
  if (standing === 'claimed') {
    throw fail('EMAIL_VERIFICATION_REQUIRED', {
      fix: 'Open the link in the verification mail, then accept.',
    });
  }
  if (standing === 'foreign') {
    throw fail('FORBIDDEN', { fix: 'Sign in as the user whose verified address was invited.' });
  }
}

/**
 * Nobody gives through an invitation what he could not give today (authorization §5).
 * @throws INVALID_STATE when the inviter left, was disabled or deleted, or lacks part of the role
 */
async function assertMayStillInvite(
  tx: Executor,
  { resolver }: Services,
  scope: ResolvedScope,
  { invitedBy, roleId }: InvitationRow,
): Promise<void> {
  const { grants } = await resolver.rightsOfUser(scope, invitedBy, tx);
  const wanted = await permissionsOf(tx, scope, { roleIds: [roleId] });
  if (grants.standing === 'active' && missingPermissions(grants, wanted).length === 0) return;
  throw noLongerGood();
}

const noLongerGood = (): DoorwardError =>
  fail('INVALID_STATE', {
    params: { state: 'void' },
    fix: 'Whoever sent this invitation may no longer give its role: ask for a new one.',
  });
