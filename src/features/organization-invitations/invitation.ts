import { sql } from 'drizzle-orm';
import {
  foreignKey,
  index,
  pgTable,
  text as textColumn,
  uniqueIndex,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { roleIdOf } from '../../access/built-in.ts';
import { deletedIndex, rowColumns, tenantColumn, time } from '../../db/columns.ts';
import { entity, fixed, serverSet, type AnyEntity } from '../../kernel/entity.ts';
import { email, iso, uuid } from '../../values.ts';
import { Organization } from '../organizations/organization.ts';
import { Role, roles } from '../roles/role.ts';
import { User, users } from '../users/user.ts';

const states = ['pending', 'accepted', 'expired', 'revoked'] as const;
export const InvitationStatus = z
  .enum(states)
  .meta({ id: 'InvitationStatus', description: 'Whether it waits, was taken, is over or was withdrawn.' });

/** Invitations into organizations. `status` is as of the last change: see `invitationStatus` for today's. */
export const invitations = pgTable(
  'organization_invitations',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    /** Canonical. */
    email: textColumn('email').notNull(),
    roleId: uuidColumn('role_id').notNull(),
    roleTenantId: uuidColumn('role_tenant_id').notNull(),
    status: textColumn('status', { enum: states }).notNull().default('pending'),
    invitedBy: uuidColumn('invited_by')
      .notNull()
      .references(() => users.id),
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

/** Digests of the mailed tokens, one an invitation at most. In a table of its own, which no answer reads. */
export const invitationTokens = pgTable('organization_invitation_tokens', {
  hash: textColumn('hash').primaryKey(),
  invitationId: uuidColumn('invitation_id')
    .notNull()
    .unique('organization_invitation_tokens_invitation')
    .references(() => invitations.id, { onDelete: 'cascade' }),
  createdAt: time('created_at').notNull().defaultNow(),
});

/** A pending invitation whose time is over has expired, whether or not anybody wrote it down. */
export const invitationStatus = (now: Date) =>
  sql<
    z.output<typeof InvitationStatus>
  >`case when "organization_invitations"."status" = 'pending' and "organization_invitations"."expires_at" <= ${now.toISOString()}::timestamptz then 'expired' else "organization_invitations"."status" end`;

/** A mailed offer to join an organization with a role; its token is in the mail only. */
export const Invitation = entity('Invitation', {
  table: invitations,
  doc: 'An offer to join an organization with a role, sent by mail.',
  fields: {
    organizationId: serverSet(uuid.describe('The organization to join.')),
    email: fixed(
      email.meta({ description: 'The address that is invited.', examples: ['grace@example.com'] }),
    ),
    roleId: fixed(
      uuid.meta({ description: 'The role of the new member.', examples: [roleIdOf('Organization Viewer')] }),
    ),
    status: serverSet(InvitationStatus.describe('What has become of it.')),
    invitedBy: serverSet(uuid.describe('Id of the user who invites.')),
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
