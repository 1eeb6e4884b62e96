import { and, eq, inArray, isNull, or, sql } from 'drizzle-orm';
import {
  boolean,
  index,
  pgTable,
  text as textColumn,
  uniqueIndex,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { deletedIndex, links, metadataColumn, rowColumns, time } from '../columns.ts';
import { nodes } from '../nodes.ts';
import { derivable, entity, required, optional, serverSet, type AnyEntity } from '../../kernel/entity.ts';
import { iso, metadata, slug, text, uuid } from '../../kernel/input/values.ts';
import { primaryColor } from './primary-color.ts';
import { Project } from './project.ts';
import { taggedBy, tagIds, tags } from '../rights/tag.ts';

/**
 * Organizations. Each is a tenant node with the same id; the parent of the node is the account that owns the
 * organization.
 */
export const organizations = pgTable(
  'organizations',
  {
    ...rowColumns(),
    accountId: uuidColumn('account_id')
      .notNull()
      .references(() => nodes.id),
    name: textColumn('name').notNull(),
    slug: textColumn('slug').notNull(),
    requireMfaForSensitiveActions: boolean('require_mfa_for_sensitive_actions').notNull().default(false),
    metadata: metadataColumn(),
    supportAccess: boolean('support_access').notNull().default(true),
    logoUrl: textColumn('logo_url'),
    primaryColor: textColumn('primary_color'),
    /** Set only by an operator of the installation; no tenant may write it (src/db/tenancy/row-policies.ts). */
    suspendedAt: time('suspended_at'),
  },
  (table) => [
    deletedIndex('organizations', table),
    // For operators, who list and search all organizations.
    index('organizations_created').on(table.createdAt, table.id),
    index('organizations_suspended')
      .on(table.createdAt, table.id)
      .where(sql`suspended_at is not null`),
    index('organizations_words').using('gin', sql`to_tsvector('simple', ${table.name})`),
    index('organizations_account').on(table.accountId),
    uniqueIndex('organizations_slug_taken')
      .on(table.slug)
      .where(sql`deleted_at is null`),
  ],
);

export const organizationTags = links(
  'organization_tags',
  { column: 'organization_id', table: () => organizations, anyTenant: true },
  { column: 'tag_id', table: () => tags },
);

/** People who share projects. Membership gives rights in an organization; owning its account does not. */
export const Organization = entity('Organization', {
  table: organizations,
  doc: 'People who share projects. Membership, not ownership of the account, gives rights in it.',
  fields: {
    name: required(
      text(1, 255).meta({ description: 'Name of the organization.', examples: ['Lantern Books'] }),
    ),
    slug: derivable(
      slug.describe('A short name, unique in the installation; derived from the name if left out.'),
    ),
    accountId: serverSet(uuid.describe('The account that owns it.')),
    requireMfaForSensitiveActions: optional(
      z.boolean().describe('true: changes in it need a session with a second factor.'),
      false,
    ),
    supportAccess: optional(
      z.boolean().describe('false: operators of the installation cannot enter it for a member.'),
      true,
    ),
    logoUrl: serverSet(
      z.string().nullable().describe('Its uploaded logo, for invitations and the choice of an organization.'),
    ),
    primaryColor: optional(primaryColor('Colour of its invitations'), null),
    suspendedAt: serverSet(
      iso.nullable().describe('When an operator of the installation suspended it; null unless suspended.'),
    ),
    metadata: optional(metadata, {}),
    tagIds,
  },
  // An account contains the organizations that it owns, and those that its owner is a member of. An organization
  // contains itself.
  within: (scope) =>
    scope.tenant === 'account'
      ? (or(
          eq(organizations.accountId, scope.nodeId),
          inArray(
            organizations.id,
            sql`(select m.tenant_id from organization_members m join accounts a on a.owner_id = m.user_id where a.id = ${scope.nodeId})`,
          ),
        ) as ReturnType<typeof eq>)
      : (and(eq(organizations.id, scope.nodeId), isNull(organizations.deletedAt)) as ReturnType<typeof eq>),
  relations: {
    projects: { kind: 'children', to: (): AnyEntity => Project, column: 'ownerId' },
    tags: taggedBy(() => organizationTags),
  },
  search: ['name', 'slug'],
  sort: ['createdAt', 'name', 'updatedAt'],
});
