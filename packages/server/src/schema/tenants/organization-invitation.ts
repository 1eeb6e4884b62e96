import { sql } from 'drizzle-orm';
import {
  foreignKey,
  index,
  jsonb,
  pgTable,
  text as textColumn,
  uniqueIndex,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { roleIdOf } from '../rights/built-in-ids.ts';
import { deletedIndex, rowColumns, tenantColumn, time, userColumn } from '../columns.ts';
import { entity, fixed, fixedOptional, serverSet, type AnyEntity } from '../../kernel/entity.ts';
import { email, iso, uuid } from '../../kernel/input/values.ts';
import { Organization, organizations } from './organization.ts';
import { Role, roles } from '../rights/role.ts';
import { User, users } from '../people/user.ts';

const states = ['pending', 'accepted', 'expired', 'revoked'] as const;
export const InvitationStatus = z.enum(states).meta({
  id: 'InvitationStatus',
  description: 'Whether the invitation is pending, accepted, expired or revoked.',
});

/** Invitations to organizations. `status` is as of the last change; `invitationStatus` returns the current one. */
export const invitations = pgTable(
  'organization_invitations',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    /** The invited address in canonical form. */
    email: textColumn('email').notNull(),
    roleId: uuidColumn('role_id').notNull(),
    roleTenantId: uuidColumn('role_tenant_id').notNull(),
    /** Roles that the new member gets in projects that are granted to the organization. */
    grants: jsonb('grants').$type<{ grantId: string; roleIds: string[] }[]>().notNull().default([]),
    status: textColumn('status', { enum: states }).notNull().default('pending'),
    invitedBy: userColumn('invited_by'),
    expiresAt: time('expires_at').notNull(),
    lastSentAt: time('last_sent_at').notNull(),
    acceptedAt: time('accepted_at'),
    revokedAt: time('revoked_at'),
  },
  (table) => [
    deletedIndex('organization_invitations', table),
    index('organization_invitations_email').on(table.email),
    index('organization_invitations_inviter').on(table.invitedBy),
    foreignKey({
      name: 'organization_invitations_role_fk',
      columns: [table.roleTenantId, table.roleId],
      foreignColumns: [roles.tenantId, roles.id],
    }),
    index('organization_invitations_tenant').on(table.tenantId, table.createdAt, table.id),
    index('organization_invitations_role').on(table.roleId),
    uniqueIndex('invitations_email_taken')
      .on(table.tenantId, table.email)
      .where(sql`status = 'pending' and deleted_at is null`),
  ],
);

/**
 * Hashes of the mailed tokens, at most one per invitation. They have their own table because no response may contain
 * them.
 */
export const invitationTokens = pgTable('organization_invitation_tokens', {
  hash: textColumn('hash').primaryKey(),
  invitationId: uuidColumn('invitation_id')
    .notNull()
    .unique('organization_invitation_tokens_invitation')
    .references(() => invitations.id, { onDelete: 'cascade' }),
  createdAt: time('created_at').notNull().defaultNow(),
});

/** SQL: the current status. A pending invitation past its expiry is expired, even if the row still says `pending`. */
export const invitationStatus = (now: Date) =>
  sql<
    z.output<typeof InvitationStatus>
  >`case when "organization_invitations"."status" = 'pending' and "organization_invitations"."expires_at" <= ${now.toISOString()}::timestamptz then 'expired' else "organization_invitations"."status" end`;

const grantShape = {
  grantId: uuid.describe('The grant, as the organization has it.'),
  roleIds: z.array(uuid).min(1).max(20).describe('Roles of the grant for the new member.'),
};
const InvitationGrant = z
  .object(grantShape)
  .meta({ id: 'InvitationGrant', description: 'Roles that the new member gets in a granted project.' });
const InvitationGrantInput = z
  .strictObject(grantShape)
  .meta({ id: 'InvitationGrantInput', description: 'Roles that the new member gets in a granted project.' });

/** A mailed offer to join an organization with a role; its token is in the mail only. */
export const Invitation = entity('Invitation', {
  table: invitations,
  doc: 'An offer to join an organization with a role, sent by mail.',
  fields: {
    organizationId: serverSet(uuid.describe('The organization to join.')),
    email: fixed(email.meta({ description: 'The invited address.', examples: ['grace@example.com'] })),
    roleId: fixed(
      uuid.meta({ description: 'The role of the new member.', examples: [roleIdOf('Organization Viewer')] }),
    ),
    grants: fixedOptional(
      z.array(InvitationGrant).describe('Roles in projects of others that are granted to the organization.'),
      z.array(InvitationGrantInput).max(20),
    ),
    status: serverSet(InvitationStatus.describe('Its status.')),
    invitedBy: serverSet(uuid.describe('Id of the user who sent the invitation.')),
    expiresAt: serverSet(iso.describe('Until when it can be accepted.')),
    lastSentAt: serverSet(iso.describe('When the mail was last sent.')),
    acceptedAt: serverSet(iso.nullable().describe('When it was accepted; null if it was not.')),
    revokedAt: serverSet(iso.nullable().describe('When it was revoked; null if it was not.')),
  },
  columns: { organizationId: invitations.tenantId },
  computed: { status: ({ now }) => invitationStatus(now) },
  relations: {
    role: { kind: 'one', to: () => Role, column: 'roleId' },
    organization: { kind: 'one', to: (): AnyEntity => Organization, column: 'organizationId' },
    inviter: { kind: 'one', to: () => User, column: 'invitedBy' },
  },
  search: ['email'],
  sort: ['createdAt', 'email', 'expiresAt', 'status'],
});

/**
 * The name that the invited person sees as the inviter: the name of the organization if a service user sent the
 * invitation.
 */
export const inviterName = () =>
  sql<string>`case when ${users.kind} = 'service' then ${organizations.name} else ${users.name} end`;
