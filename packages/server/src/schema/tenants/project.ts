import { eq, sql } from 'drizzle-orm';
import { index, pgTable, text as textColumn, uniqueIndex, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { deletedIndex, links, metadataColumn, rowColumns } from '../columns.ts';
import { nodes } from '../nodes.ts';
import { resourceUri } from './resource-uri.ts';
import { changeable, derivable, entity, required, optional, serverSet } from '../../kernel/entity.ts';
import { metadata, slug, text, uuid } from '../../kernel/input/values.ts';
import { ScopeOutput } from '../../kernel/scope.ts';
import { taggedBy, tagIds, tags } from '../rights/tag.ts';

const dynamicRegistrations = ['off', 'token'] as const;

/**
 * Projects. Each is a tenant node with the same id; the parent of the node is the owner, an account or organization.
 */
export const projects = pgTable(
  'projects',
  {
    ...rowColumns(),
    ownerId: uuidColumn('owner_id')
      .notNull()
      .references(() => nodes.id),
    ownerKind: textColumn('owner_kind', { enum: ['account', 'organization'] }).notNull(),
    name: textColumn('name').notNull(),
    slug: textColumn('slug').notNull(),
    description: textColumn('description'),
    metadata: metadataColumn(),
    /** Whether clients may register themselves as apps (RFC 7591). */
    dynamicRegistration: textColumn('dynamic_registration', { enum: dynamicRegistrations })
      .notNull()
      .default('off'),
    /** The only permissions that a self-registered app may request. */
    registrableScopes: textColumn('registrable_scopes').array().notNull().default([]),
    /** Resource servers that self-registered apps may name. */
    registrableResources: textColumn('registrable_resources').array().notNull().default([]),
  },
  (table) => [
    deletedIndex('projects', table),
    // For operators, who list and search all projects.
    index('projects_created').on(table.createdAt, table.id),
    index('projects_words').using('gin', sql`to_tsvector('simple', ${table.name})`),
    uniqueIndex('projects_slug_taken')
      .on(table.ownerId, table.slug)
      .where(sql`deleted_at is null`),
  ],
);

export const projectTags = links(
  'project_tags',
  { column: 'project_id', table: () => projects, anyTenant: true },
  { column: 'tag_id', table: () => tags },
);

const Owner = z
  .object({
    tenant: z
      .enum(['account', 'organization'])
      .meta({ id: 'ProjectOwnerTenant', description: 'What can own a project.' })
      .describe('The type of the owner.'),
    id: uuid.describe('Id of the account or organization.'),
  })
  .meta({ id: 'ProjectOwner', description: 'The owner of the project.' });

/** A product or environment of a customer, which contains its own resources, roles and API keys. */
export const Project = entity('Project', {
  table: projects,
  doc: 'A product or environment, which contains its own resources, roles and API keys.',
  fields: {
    name: required(text(1, 255).meta({ description: 'Name of the project.', examples: ['Web shop'] })),
    slug: derivable(
      slug.describe('A short name, unique within its owner; derived from the name if left out.'),
    ),
    description: optional(
      text(0, 1000, { multiline: true })
        .nullable()
        .meta({ description: 'What the project is for.', examples: ['The shop on our web site.'] }),
      null,
    ),
    owner: serverSet(Owner.describe('The account or organization that owns it.')),
    scope: serverSet(ScopeOutput.describe('The scope of the project, for requests.')),
    metadata: optional(metadata, {}),
    dynamicRegistration: changeable(
      z
        .enum(dynamicRegistrations)
        .meta({ id: 'DynamicRegistration', description: 'Who may register clients as apps of a project.' })
        .describe(
          'Whether clients may register themselves as apps (RFC 7591). token: with the token of an API key that holds ProjectApp:Create.',
        ),
    ),
    registrableScopes: changeable(
      z
        .array(text(1, 128))
        .max(100)
        .describe('Permissions that registered apps may request (slug:action or Noun:Action).'),
    ),
    registrableResources: changeable(
      z
        .array(resourceUri)
        .max(20)
        .transform((uris) => [...new Set(uris)])
        .describe('Resource servers that registered apps may name as audience (RFC 8707).'),
    ),
    tagIds,
  },
  computed: {
    owner: sql`json_build_object('tenant', ${projects.ownerKind}, 'id', ${projects.ownerId})`,
    scope: sql`json_build_object('tenant', ${projects.ownerKind} || 'Project', 'id', ${projects.ownerId} || ':' || ${projects.id})`,
  },
  within: (scope) =>
    scope.projectId && !scope.grant ? eq(projects.id, scope.projectId) : eq(projects.ownerId, scope.nodeId),
  relations: { tags: taggedBy(() => projectTags) },
  search: ['name', 'slug', 'description'],
  sort: ['createdAt', 'name', 'updatedAt'],
});
