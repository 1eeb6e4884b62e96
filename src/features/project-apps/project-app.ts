import { boolean, foreignKey, index, pgTable, unique } from 'drizzle-orm/pg-core';
import { text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { bytea, deletedIndex, links, rowColumns, tenantColumn } from '../../db/columns.ts';
import { entity, fixed, given, optional, serverSet } from '../../kernel/entity.ts';
import { httpsUrl, refusal, text, uuid } from '../../values.ts';
import { originOf } from '../app-access/origin.ts';
import { isRedirectUri } from '../app-access/redirect-uri.ts';
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
    /** Origins whose scripts may read the answers to the app (`transport/cors.ts`). */
    allowedOrigins: textColumn('allowed_origins').array().notNull().default([]),
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
    index('project_apps_origins').using('gin', table.allowedOrigins),
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

const each = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** Kept as typed, since it is compared as typed. */
const redirectUri = z
  .string()
  .check(({ value, issues }) => {
    if (!isRedirectUri(value)) issues.push(refusal('format', value));
  })
  .meta({
    maxLength: 2048,
    description:
      'https, or http for 127.0.0.1, [::1] (any port matches) and localhost, or a scheme of the app (com.example:/callback).',
  });

/** Stored as browsers send it. */
const webOrigin = z
  .string()
  .max(255)
  .transform((typed, { issues }) => {
    const origin = originOf(typed);
    if (origin !== null) return origin;
    issues.push(refusal('format', typed));
    return z.NEVER;
  })
  .meta({ description: 'https, or http for localhost, 127.0.0.1 and [::1]; without a path.' });

/** Names; whether there are such permissions, the project tells. */
const scopeName = text(1, 128);

const Provider = z
  .enum(appProviders)
  .meta({ id: 'ProjectAppProvider', description: 'A way to sign in to an app.' });

const ofOrigins = 'Origins of pages that may read the answers to this app.';
const ofScopes =
  'Permissions that it may use (slug:action or Noun:Action). null: not restricted; empty: nothing.';
const ofProviders = 'The ways to sign in that its pages offer.';
const ofSecrecy = 'true: it keeps a secret, and proves it at the token endpoint.';

/** An app to which the users of a project sign in, on pages of this service. */
export const ProjectApp = entity('ProjectApp', {
  table: projectApps,
  doc: 'An app to which the users of a project sign in, on pages of this service.',
  fields: {
    projectId: serverSet(uuid.describe('The project whose users sign in.')),
    clientId: serverSet(uuid.describe('How OAuth requests name the app; it is no secret.')),
    name: given(
      text(1, 255).meta({ description: 'What the sign-in pages call the app.', examples: ['Web shop'] }),
    ),
    logoUrl: optional(httpsUrl.nullable().describe('Picture that the sign-in pages show.'), null),
    homepageUrl: optional(httpsUrl.nullable().describe('Where the app lives.'), null),
    primaryColor: optional(
      z
        .string()
        .regex(/^#[0-9a-f]{6}$/)
        .nullable()
        .meta({
          description: 'Colour of the sign-in pages: `#` and six lower-case hex digits.',
          examples: ['#1f3a5f'],
        }),
      null,
    ),
    redirectUris: {
      ...given(
        z
          .array(redirectUri)
          .min(1)
          .max(20)
          .transform(each)
          .meta({
            description: 'Where the browser may be sent after the sign-in.',
            examples: [['https://app.example.com/callback']],
          }),
      ),
      out: z.array(z.string()).describe('Where the browser may be sent after the sign-in.'),
    },
    scopes: {
      ...optional(z.array(scopeName).max(100).nullable().describe(ofScopes), null),
      out: z.array(z.string()).nullable().describe(ofScopes),
    },
    enabledProviders: {
      ...optional(z.array(Provider).min(1).max(10).transform(each).describe(ofProviders), ['email']),
      out: z.array(Provider).describe(ofProviders),
    },
    allowSignUp: optional(
      z.boolean().describe('true: people who are not in the project yet join it by signing in.'),
      false,
    ),
    signUpRoleId: optional(uuid.nullable().describe('The role that they join with.'), null),
    confidential: {
      ...fixed(z.boolean().describe(ofSecrecy)),
      create: z.boolean().default(false).describe(ofSecrecy),
    },
    allowedOrigins: {
      ...optional(
        z
          .array(webOrigin)
          .max(20)
          .transform(each)
          .meta({ description: ofOrigins, examples: [['https://app.example.com']] }),
        [],
      ),
      out: z.array(z.string()).describe(ofOrigins),
    },
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
