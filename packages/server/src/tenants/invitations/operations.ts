import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { isManagementKey } from '../../kernel/context.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { text, uuid } from '../../kernel/input/values.ts';
import { password } from '../../sessions/password-sign-in.ts';
import { accept, AcceptedInvitation, prepareAcceptance, PublicInvitation, readByToken } from './by-token.ts';
import {
  Invitation,
  InvitationStatus,
  invitationStatus,
} from '../../schema/tenants/organization-invitation.ts';
import { invite, renew, resend, revoke } from './transitions.ts';

const tenants: readonly Tenant[] = ['organization'];
const token = z
  .string()
  .min(1)
  .max(128)
  .meta({
    description: 'The token in the link of the mail.',
    examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
  });

export const inviteMember = mutation({
  rest: 'POST /organization-invitations/invite',
  whileImpersonating: 'refused',
  access: 'OrganizationInvitation:Create',
  summary: 'Invite an address into the organization, by mail',
  // Of all keys, only those of the organization or its account may invite. Today no other key reaches an organization.
  sessionOnly: (_, principal) => !isManagementKey(principal),
  permissionChange: 'none',
  tenants,
  input: { scope: Scope, ...Invitation.create },
  output: Invitation.schema,
  status: 201,
  codes: ['PRIVILEGE_ESCALATION', 'STEP_UP_REQUIRED', 'CONFLICT'],
  emits: 'invitation.created',
  run: (ctx) => invite(ctx, ctx.input),
});

export const acceptInvitation = mutation({
  rest: 'POST /organization-invitations/accept',
  whileImpersonating: 'refused',
  access: 'public',
  summary: 'Join the organization of an invitation',
  description:
    'As the signed-in user whose verified address was invited, or as a new user with `registration`: the mailed token verifies their address, and the answer has their session.',
  sessionOnly: true,
  input: {
    token,
    registration: z
      .strictObject({
        name: text(1, 255).meta({
          description: 'What people call the new user.',
          examples: ['Grace Hopper'],
        }),
        password,
      })
      .optional()
      .meta({ description: 'For an address that no user has verified; not together with a session.' }),
  },
  output: AcceptedInvitation,
  emits: 'invitation.accepted',
  codes: [
    'UNAUTHENTICATED',
    'MFA_REQUIRED',
    'FORBIDDEN',
    'EMAIL_VERIFICATION_REQUIRED',
    'NOT_FOUND',
    'INVALID_TOKEN',
    'INVALID_STATE',
    'CONFLICT',
  ],
  limit: {
    class: 'auth',
    key: (input, { network }) => `acceptInvitation ${hashOneTimeToken(input.token)} ${network}`,
  },
  prepare: ({ tx, services, principal, input }) => prepareAcceptance(tx, services, principal, input),
  run: (ctx) => accept(ctx, ctx.input.token, ctx.prepared),
});

export const invitation = query({
  rest: 'GET /organization-invitations/:token',
  access: 'public',
  limit: 'network',
  summary: 'Read an invitation with the token of its mail',
  input: { token },
  output: PublicInvitation,
  codes: ['NOT_FOUND'],
  run: ({ tx, services, input }) => readByToken(tx, services, input.token),
});

export const organizationInvitations = query({
  rest: 'GET /organization-invitations',
  access: 'OrganizationInvitation:Query',
  summary: 'List the invitations of an organization',
  tenants,
  input: {
    scope: Scope,
    ...paging(Invitation),
    status: InvitationStatus.optional().describe('Only invitations with this status.'),
  },
  output: pageOf(Invitation),
  run: ({ db, input, services }) =>
    db.page(Invitation, input, [input.status && eq(invitationStatus(services.clock.now()), input.status)]),
});

export const resendInvitation = mutation({
  rest: 'POST /organization-invitations/:id/resend-email',
  whileImpersonating: 'refused',
  access: 'OrganizationInvitation:ResendEmail',
  summary: 'Mail a pending invitation again; the earlier link becomes invalid',
  permissionChange: 'none',
  tenants,
  input: { scope: Scope, id: uuid },
  output: Invitation.schema,
  target: Invitation,
  codes: ['INVALID_STATE'],
  run: (ctx) => resend(ctx, ctx.input.id),
});

export const renewInvitation = mutation({
  rest: 'POST /organization-invitations/:id/renew',
  whileImpersonating: 'refused',
  access: 'OrganizationInvitation:Renew',
  summary: 'Extend a pending or expired invitation to the full period, and mail it',
  permissionChange: 'none',
  tenants,
  input: { scope: Scope, id: uuid },
  output: Invitation.schema,
  target: Invitation,
  codes: ['INVALID_STATE', 'CONFLICT', 'STEP_UP_REQUIRED'],
  run: (ctx) => renew(ctx, ctx.input.id),
});

export const revokeInvitation = mutation({
  rest: 'DELETE /organization-invitations/:id',
  whileImpersonating: 'refused',
  access: 'OrganizationInvitation:Revoke',
  summary: 'Revoke an invitation',
  permissionChange: 'none',
  tenants,
  input: { scope: Scope, id: uuid },
  output: Invitation.schema,
  target: Invitation,
  codes: ['INVALID_STATE'],
  emits: 'invitation.revoked',
  run: (ctx) => revoke(ctx, ctx.input.id),
});
