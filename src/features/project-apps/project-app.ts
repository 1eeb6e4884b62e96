import { boolean, foreignKey, index, pgTable, unique } from 'drizzle-orm/pg-core';
import { text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { bytea, deletedIndex, links, rowColumns, tenantColumn } from '../../db/columns.ts';
import { entity, fixedOptional, given, optional, serverSet } from '../../kernel/entity.ts';
import { httpsUrl, text, uuid } from '../../kernel/values.ts';
import { Role, roles } from '../roles/role.ts';
import { taggedBy, tagIds, tags } from '../tags/tag.ts';

export const appProviders = ['email', 'github'] as const;

/** Apps to which the users of a project sign in. The tenant is the project. */
export const projectApps = pgTable(
  'project_apps',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    clientId: uuidColumn('client_id').notNull(),
    name: textColumn('name').notNull(),
    logoUrl: textColumn('logo_url'),
    homepageUrl: textColumn('homepage_url'),
    primaryColor: textColumn('primary_color'),
    redirectUris: textColumn('redirect_uris').array().notNull(),
    /** Null: not restricted. Empty: nothing may be done with a token of the app. */
    scopes: textColumn('scopes').array(),
    enabledProviders: textColumn('enabled_providers', { enum: appProviders }).array().notNull(),
    allowSignUp: boolean('allow_sign_up').notNull(),
    signUpRoleId: uuidColumn('sign_up_role_id'),
    signUpRoleTenantId: uuidColumn('sign_up_role_tenant_id'),
    confidential: boolean('confidential').notNull(),
    /** HMAC of the secret of a confidential app; no answer reads it. */
    secretHash: bytea('secret_hash'),
  },
  (table) => [
    deletedIndex('project_apps', table),
    unique('project_apps_client_id').on(table.clientId),
    unique('project_apps_tenant_id_id').on(table.tenantId, table.id),
    index('project_apps_tenant').on(table.tenantId, table.createdAt, table.id),
    index('project_apps_role').on(table.signUpRoleId),
    foreignKey({
      name: 'project_apps_role_fk',
      columns: [table.signUpRoleTenantId, table.signUpRoleId],
      foreignColumns: [roles.tenantId, roles.id],
    }),
  ],
);

export const projectAppTags = links(
  'project_app_tags',
  { column: 'project_app_id', table: () => projectApps },
  { column: 'tag_id', table: () => tags },
);

/** An app to which the users of a project sign in, on pages of this service. */
export const ProjectApp = entity('ProjectApp', {
  table: projectApps,
  doc: 'An app to which the users of a project sign in, on pages of this service.',
  fields: {
    projectId: serverSet(uuid),
    clientId: serverSet(uuid),
    name: given(text(1, 255)),
    logoUrl: optional(httpsUrl.nullable(), null),
    homepageUrl: optional(httpsUrl.nullable(), null),
    primaryColor: optional(
      z
        .string()
        .regex(/^#[0-9a-f]{6}$/)
        .nullable(),
      null,
    ),
    redirectUris: given(z.array(z.string()).min(1).max(20)),
    scopes: optional(z.array(z.string()).max(100).nullable(), null),
    enabledProviders: optional(
      z
        .array(z.enum(appProviders).meta({ id: 'ProjectAppProvider' }))
        .min(1)
        .max(2),
      ['email'],
    ),
    allowSignUp: optional(z.boolean(), false),
    signUpRoleId: optional(uuid.nullable(), null),
    confidential: fixedOptional(z.boolean()),
    tagIds,
  },
  columns: { projectId: projectApps.tenantId },
  relations: {
    tags: taggedBy(() => projectAppTags),
    signUpRole: { kind: 'one', to: () => Role, column: 'signUpRoleId' },
  },
  search: ['name'],
  sort: ['createdAt', 'name'],
});
