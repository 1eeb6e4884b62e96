import {
  boolean,
  foreignKey,
  index,
  jsonb,
  pgTable,
  timestamp,
  unique,
  text as textColumn,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { managed, managedColumns, managedOf } from '../managed.ts';
import { bytea, deletedIndex, links, rowColumns, tenantColumn } from '../columns.ts';
import { entity, fixed, required, optional, serverSet } from '../../kernel/entity.ts';
import { httpsUrl, rowName, text, uuid } from '../../kernel/input/values.ts';
import { AppText, AppTextInput } from './app-text.ts';
import { primaryColor } from '../tenants/primary-color.ts';
import { AccessTokenProfileName, accessTokenProfiles } from './access-token-profile.ts';
import { resourceUri } from '../tenants/resource-uri.ts';
import { Role, roles } from '../rights/role.ts';
import { taggedBy, tagIds, tags } from '../rights/tag.ts';
import { redirectUri } from './redirect-uri.ts';
import { webOrigin } from './origin.ts';

export const appProviders = ['email', 'password', 'passkey', 'github'] as const;

/** Apps that the users of a project sign in to. `tenantId` is the project. */
export const projectApps = pgTable(
  'project_apps',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    ...managedColumns(),
    clientId: uuidColumn('client_id').notNull(),
    name: textColumn('name').notNull(),
    logoUrl: textColumn('logo_url'),
    homepageUrl: textColumn('homepage_url'),
    primaryColor: textColumn('primary_color'),
    /** The sender name in mails of the app, before the address of the service; null: the service's own name. */
    senderName: textColumn('sender_name'),
    texts: jsonb('texts').$type<AppText[]>().notNull().default([]),
    redirectUris: textColumn('redirect_uris').array().notNull(),
    /** Permissions that tokens of the app may have. Null: not restricted. Empty: they allow nothing. */
    scopes: textColumn('scopes').array(),
    enabledProviders: textColumn('enabled_providers', { enum: appProviders }).array().notNull(),
    /** Keys of OpenID Connect providers. */
    identityProviders: textColumn('identity_providers').array().notNull().default([]),
    /** Where the browser may be redirected after a logout. */
    postLogoutRedirectUris: textColumn('post_logout_redirect_uris').array().notNull().default([]),
    backchannelLogoutUri: textColumn('backchannel_logout_uri'),
    /** Origins whose scripts may read the responses to the app (CORS). */
    allowedOrigins: textColumn('allowed_origins').array().notNull().default([]),
    allowSignUp: boolean('allow_sign_up').notNull(),
    signUpRoleId: uuidColumn('sign_up_role_id'),
    signUpRoleTenantId: uuidColumn('sign_up_role_tenant_id'),
    confidential: boolean('confidential').notNull(),
    /** Whether the app gets what it requests without asking its users for consent. */
    firstParty: boolean('first_party').notNull().default(false),
    accessTokenProfile: textColumn('access_token_profile', { enum: accessTokenProfiles })
      .notNull()
      .default('doorward'),
    /** Whether id_tokens of the app also contain the claims of userinfo. */
    idTokenClaims: boolean('id_token_claims').notNull().default(false),
    /** Resource servers that tokens of the app may name as audience (RFC 8707). */
    resources: textColumn('resources').array().notNull().default([]),
    /** HMAC of the secret of a confidential app; no response contains it. */
    secretHash: bytea('secret_hash'),
    /** Hash of the token that lets a self-registered client manage its registration; null: people created the app. */
    registrationHash: textColumn('registration_hash'),
    /** When a user last signed in or stayed signed in, accurate to within a day; kept for self-registered apps only. */
    lastUsedAt: timestamp('last_used_at', { withTimezone: true }),
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

const withoutDuplicates = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** The name of a permission. `scopesToSet` checks that the project has such a permission. */
const scopeName = text(1, 128);

const Provider = z
  .enum(appProviders)
  .meta({ id: 'ProjectAppProvider', description: 'A sign-in method of an app.' });

const logoutUrisText = 'Where the browser may be sent after a logout.';
const profileText =
  'Claims of its access tokens. rfc9068: for verifiers of the standard; `scope` is then a text.';
const textsText =
  'Texts before those of the service, at most one for each purpose and language: plain, without addresses and numbers.';
const resourcesText =
  'Resource servers that it may name (RFC 8707): URIs without fragment, which its access tokens then have in `aud`.';
const originsText = 'Origins of pages that may read the answers to this app.';
const scopesText =
  'Permissions that it may use (slug:action or Noun:Action). null: not restricted; empty: none.';
const identityProvidersText =
  'Keys of the OpenID Connect providers that its pages offer (`GET /auth/providers`).';
const providersText = 'Sign-in methods that its pages offer.';
const confidentialText = 'true: the app can keep a secret, and sends it to the token endpoint.';

/** An app that the users of a project sign in to, on pages of this service. */
export const ProjectApp = entity('ProjectApp', {
  table: projectApps,
  doc: 'An app to which the users of a project sign in, on pages of this service.',
  fields: {
    projectId: serverSet(uuid.describe('The project whose users sign in.')),
    clientId: serverSet(uuid.describe('The client id of the app in OAuth requests; it is not secret.')),
    name: required(
      rowName.meta({ description: 'What the sign-in pages call the app.', examples: ['Web shop'] }),
    ),
    logoUrl: optional(
      httpsUrl
        .nullable()
        .describe('Picture that the sign-in pages show; uploaded ones (`/logo`) are in mails too.'),
      null,
    ),
    homepageUrl: optional(httpsUrl.nullable().describe('Web site of the app.'), null),
    primaryColor: optional(primaryColor('Colour of the sign-in pages and mails'), null),
    senderName: optional(
      text(1, 64)
        .nullable()
        .meta({
          description:
            'Sender of its mails, before the mail address of the service; null: the sender of the service.',
          examples: ['Web shop'],
        }),
      null,
    ),
    texts: {
      ...optional(
        z
          .array(AppTextInput)
          .max(16)
          .meta({ description: textsText, examples: [[]] }),
        [],
      ),
      out: z.array(AppText).describe(textsText),
    },
    redirectUris: {
      ...required(
        z
          .array(redirectUri)
          .min(1)
          .max(20)
          .transform(withoutDuplicates)
          .meta({
            description: 'Where the browser may be sent after the sign-in.',
            examples: [['https://app.example.com/callback']],
          }),
      ),
      out: z.array(z.string()).describe('Where the browser may be sent after the sign-in.'),
    },
    postLogoutRedirectUris: {
      ...optional(
        z
          .array(redirectUri)
          .max(20)
          .transform(withoutDuplicates)
          .meta({ description: logoutUrisText, examples: [['https://app.example.com/goodbye']] }),
        [],
      ),
      out: z.array(z.string()).describe(logoutUrisText),
    },
    backchannelLogoutUri: optional(
      z
        .string()
        .max(2048)
        .nullable()
        .meta({
          description:
            'Receives a signed `logout_token` when a session of the app ends (OpenID Connect Back-Channel Logout). An https URL with a public address.',
          examples: ['https://app.example.com/backchannel-logout'],
        }),
      null,
    ),
    scopes: {
      ...optional(z.array(scopeName).max(100).nullable().describe(scopesText), null),
      out: z.array(z.string()).nullable().describe(scopesText),
    },
    enabledProviders: {
      ...optional(z.array(Provider).max(10).transform(withoutDuplicates).describe(providersText), ['email']),
      out: z.array(Provider).describe(providersText),
    },
    identityProviders: {
      ...optional(
        z
          .array(text(2, 31))
          .max(20)
          .transform(withoutDuplicates)
          .meta({ description: identityProvidersText, examples: [[]] }),
        [],
      ),
      out: z.array(z.string()).describe(identityProvidersText),
    },
    allowSignUp: optional(
      z.boolean().describe('true: people who are not users of the project join it by signing in.'),
      false,
    ),
    signUpRoleId: optional(uuid.nullable().describe('The role that they join with.'), null),
    confidential: {
      ...fixed(z.boolean().describe(confidentialText)),
      create: z.boolean().default(false).describe(confidentialText),
    },
    firstParty: optional(
      z
        .boolean()
        .describe(
          'true: its users are not asked for consent. Only an owner or administrator of the organization, or the owner of the account, may set it, in a session with a recent sign-in.',
        ),
      false,
    ),
    allowedOrigins: {
      ...optional(
        z
          .array(webOrigin)
          .max(20)
          .transform(withoutDuplicates)
          .meta({ description: originsText, examples: [['https://app.example.com']] }),
        [],
      ),
      out: z.array(z.string()).describe(originsText),
    },
    accessTokenProfile: optional(AccessTokenProfileName.describe(profileText), 'doorward'),
    idTokenClaims: optional(
      z
        .boolean()
        .describe(
          'true: its id_tokens also have the claims that `profile` and `email` grant, for clients that do not read user info.',
        ),
      false,
    ),
    resources: {
      ...optional(
        z
          .array(resourceUri)
          .max(20)
          .transform(withoutDuplicates)
          .meta({ description: resourcesText, examples: [['https://api.example.com']] }),
        [],
      ),
      out: z.array(z.string()).describe(resourcesText),
    },
    registered: serverSet(
      z
        .boolean()
        .describe(
          'true: the client registered itself (RFC 7591). Its users are always asked for consent, and it is deleted when unused for 30 days.',
        ),
    ),
    managed,
    tagIds,
  },
  columns: { projectId: projectApps.tenantId },
  computed: {
    managed: managedOf(projectApps),
    registered: sql`(${projectApps.registrationHash} is not null)`,
  },
  relations: {
    tags: taggedBy(() => projectAppTags),
    signUpRole: { kind: 'one', to: () => Role, column: 'signUpRoleId' },
  },
  search: ['name'],
  sort: ['createdAt', 'name'],
});
