import { sql } from 'drizzle-orm';
import {
  index,
  integer,
  pgTable,
  text as textColumn,
  uniqueIndex,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import {
  deletedIndex,
  links,
  listIndexes,
  metadataColumn,
  rowColumns,
  tenantColumn,
  time,
} from '../columns.ts';
import { derivable, entity, fixedOptional, optional, required, serverSet } from '../../kernel/entity.ts';
import { email, iso, metadata, text, uuid } from '../../kernel/input/values.ts';
import { grantFeatures, type GrantFeature } from '../../kernel/scope.ts';
import { Role, roles } from '../rights/role.ts';

const states = ['pending', 'active', 'suspended', 'declined', 'revoked', 'expired'] as const;
export const ProjectGrantStatus = z.enum(states).meta({
  id: 'ProjectGrantStatus',
  description: 'Whether the customer may use the project, and if not, why.',
});
export type GrantStatus = (typeof states)[number];
/** The states in which a customer has a slice of the project. */
export const liveStates: readonly GrantStatus[] = ['active', 'suspended'];

/**
 * Grants of a project to customers' organizations. The tenant is the project. An accepted grant has a tenant node with
 * the same id, the slice: it owns the customer's users, keys, subscriptions, events and audit entries in the project.
 * `status` is as of the last change: `grantStatus` gives the current one.
 */
export const projectGrants = pgTable(
  'project_grants',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    organizationId: uuidColumn('organization_id'),
    name: textColumn('name').notNull(),
    email: textColumn('email'),
    metadata: metadataColumn(),
    defaultRoleId: uuidColumn('default_role_id'),
    maxUsers: integer('max_users'),
    features: textColumn('features').array().$type<GrantFeature[]>().notNull(),
    status: textColumn('status', { enum: states }).notNull().default('pending'),
    expiresAt: time('expires_at'),
    createdBy: uuidColumn('created_by').notNull(),
    acceptedBy: uuidColumn('accepted_by'),
    acceptedAt: time('accepted_at'),
    revokedBy: textColumn('revoked_by', { enum: ['owner', 'grantee', 'system'] }),
    revokedAt: time('revoked_at'),
    revokedReason: textColumn('revoked_reason'),
  },
  (table) => [
    deletedIndex('project_grants', table),
    ...listIndexes('project_grants', table, { created: table.createdAt, name: table.name }),
    index('project_grants_organization').on(table.organizationId, table.createdAt, table.id),
    uniqueIndex('project_grants_organization_taken')
      .on(table.tenantId, table.organizationId)
      .where(sql`status in ('active', 'suspended') and deleted_at is null`),
    index('project_grants_pending')
      .on(table.tenantId)
      .where(sql`status = 'pending'`),
  ],
);

/** The roles of the project that the customer may assign. */
export const projectGrantRoles = links(
  'project_grant_roles',
  { column: 'project_grant_id', table: () => projectGrants, anyTenant: true },
  { column: 'role_id', table: () => roles },
);

/**
 * Hashes of the mailed tokens, at most one per grant. They have their own table because no response may contain them.
 */
export const projectGrantTokens = pgTable('project_grant_tokens', {
  hash: textColumn('hash').primaryKey(),
  grantId: uuidColumn('grant_id')
    .notNull()
    .unique('project_grant_tokens_grant')
    .references(() => projectGrants.id, { onDelete: 'cascade' }),
  createdAt: time('created_at').notNull().defaultNow(),
});

/** SQL: the current status. A pending offer past its expiry is expired, even if the row still says `pending`. */
export const grantStatus = (now: Date) =>
  sql<GrantStatus>`case when "project_grants"."status" = 'pending' and "project_grants"."expires_at" <= ${now.toISOString()}::timestamptz then 'expired' else "project_grants"."status" end`;

/** SQL: the ids of the granted roles, sorted. */
export const grantedRoleIds = sql<
  string[]
>`array(select r.role_id from project_grant_roles r where r.project_grant_id = "project_grants"."id" order by 1)`;

const roleIds = z
  .array(uuid)
  .min(1)
  .max(20)
  .transform((ids) => [...new Set(ids)].sort());

const features = z
  .array(
    z.enum(grantFeatures).meta({
      id: 'ProjectGrantFeature',
      description: 'What the customer may use besides users and checks.',
    }),
  )
  .max(grantFeatures.length)
  .transform((names) => grantFeatures.filter((name) => names.includes(name)));

/** Placeholder for counts of the slice's rows, which row-level security hides from the project: see `withCounts`. */
const hidden = sql<number>`0`;

/** The right of a customer's organization to use a project, granted by the project's owner. */
export const ProjectGrant = entity('ProjectGrant', {
  table: projectGrants,
  doc: 'A project for the organization of a customer, with the roles that it may assign there.',
  fields: {
    projectId: serverSet(uuid.describe('The granted project.')),
    organizationId: {
      ...fixedOptional(
        uuid.describe(
          'An organization in which you may accept grants; instead of email. The grant is active at once.',
        ),
      ),
      out: uuid.nullable().describe('The organization of the customer; null until the offer is accepted.'),
    },
    email: {
      ...fixedOptional(
        email.meta({
          description: 'Where the offer is mailed; instead of organizationId.',
          examples: ['grace@example.com'],
        }),
      ),
      out: z.string().nullable().describe('Where the offer was mailed; null if there was none.'),
    },
    name: required(
      text(1, 255).meta({
        description: 'Your word for the customer, who does not see it.',
        examples: ['Acme'],
      }),
    ),
    roleIds: {
      ...required(
        roleIds.meta({
          description: 'Roles of the project that the customer may assign.',
          examples: [['5e4b7d0c-93b5-4c1e-8d55-8f2a7d3c1b90']],
        }),
      ),
      out: z.array(uuid).describe('Roles of the project that the customer may assign.'),
    },
    defaultRoleId: optional(
      uuid
        .nullable()
        .describe(
          'One of roleIds, for members who sign in to an app without a role; null: they cannot sign in.',
        ),
      null,
    ),
    metadata: optional(
      metadata.describe('JSON that conditions read as `organization.metadata`; only you set it.'),
      {},
    ),
    maxUsers: optional(
      z.int().min(1).max(1_000_000).nullable().describe('Most users with roles; null: no limit.'),
      null,
    ),
    features: {
      ...derivable(features.describe('What the customer may use besides users and checks; all if left out.')),
      out: z.array(z.enum(grantFeatures)).describe('What the customer may use besides users and checks.'),
    },
    status: serverSet(ProjectGrantStatus.describe('Whether the customer may use the project.')),
    expiresAt: serverSet(iso.nullable().describe('Until when a pending offer can be accepted.')),
    createdBy: serverSet(uuid.describe('Id of the user who made the grant.')),
    acceptedBy: serverSet(uuid.nullable().describe('Id of the user who accepted it; null before.')),
    acceptedAt: serverSet(iso.nullable().describe('When it was accepted; null before.')),
    revokedBy: serverSet(
      z
        .enum(['owner', 'grantee', 'system'])
        .meta({ id: 'ProjectGrantRevoker', description: 'Who ended a grant.' })
        .nullable()
        .describe('Who ended it; null if it has not ended.'),
    ),
    revokedAt: serverSet(iso.nullable().describe('When it ended; null if it has not.')),
    revokedReason: serverSet(
      z.string().nullable().describe('Why it ended or was suspended, as its ender wrote.'),
    ),
    userCount: serverSet(z.int().describe('Users with roles.')),
    keyCount: serverSet(z.int().describe('API keys of the customer in the project.')),
    webhookCount: serverSet(z.int().describe('Webhook subscriptions of the customer in the project.')),
  },
  columns: { projectId: projectGrants.tenantId },
  computed: {
    roleIds: grantedRoleIds,
    status: ({ now }) => grantStatus(now),
    userCount: hidden,
    keyCount: hidden,
    webhookCount: hidden,
  },
  relations: {
    roles: {
      kind: 'links',
      to: () => Role,
      table: () => projectGrantRoles,
      from: 'fromId',
      target: 'toId',
      targetTenant: 'toTenantId',
    },
  },
  isVersioned: true,
  search: ['name'],
  sort: ['createdAt', 'name'],
});
