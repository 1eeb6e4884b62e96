import { sql } from 'drizzle-orm';
import {
  boolean,
  foreignKey,
  index,
  pgTable,
  text as textColumn,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { roleIdOf } from '../rights/built-in-ids.ts';
import { deletedIndex, rowColumns, tenantColumn, time } from '../columns.ts';
import { entity, optional, required, serverSet } from '../../kernel/entity.ts';
import { isIssuer } from '../../kernel/input/issuer.ts';
import { iso, refusal, text, uuid } from '../../kernel/input/values.ts';
import { roles } from '../rights/role.ts';

const states = ['draft', 'active', 'disabled'] as const;
export const OrganizationConnectionStatus = z.enum(states).meta({
  id: 'OrganizationConnectionStatus',
  description: 'draft: being set up; active: people sign in through it; disabled: they cannot at present.',
});

/** Identity providers of organizations, through which their members sign in. */
export const organizationConnections = pgTable(
  'organization_connections',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    name: textColumn('name').notNull(),
    issuer: textColumn('issuer').notNull(),
    clientId: textColumn('client_id').notNull(),
    /** Encrypted under the key-encryption key (context `organization_connections:<id>`); no response contains it. */
    sealedSecret: textColumn('sealed_secret').notNull(),
    scopes: textColumn('scopes').array().notNull(),
    /** Domains of the organization. The operations ensure that a domain belongs to at most one connection. */
    domainIds: uuidColumn('domain_ids').array().notNull(),
    defaultRoleId: uuidColumn('default_role_id').notNull(),
    defaultRoleTenantId: uuidColumn('default_role_tenant_id').notNull(),
    justInTime: boolean('just_in_time').notNull().default(true),
    enforced: boolean('enforced').notNull().default(false),
    trustMfa: boolean('trust_mfa').notNull().default(false),
    status: textColumn('status', { enum: states }).notNull().default('draft'),
    /** When a person first signed in with the current issuer and client. */
    provedAt: time('proved_at'),
    lastUsedAt: time('last_used_at'),
  },
  (table) => [
    deletedIndex('organization_connections', table),
    index('organization_connections_tenant').on(table.tenantId, table.createdAt, table.id),
    index('organization_connections_role').on(table.defaultRoleId),
    foreignKey({
      name: 'organization_connections_role_fk',
      columns: [table.defaultRoleTenantId, table.defaultRoleId],
      foreignColumns: [roles.tenantId, roles.id],
    }),
  ],
);

const issuerUrl = z
  .string()
  .max(2048)
  .check((payload) => {
    if (!isIssuer(payload.value)) payload.issues.push(refusal('format', payload.value));
  })
  .meta({ format: 'uri' });

const callbackPath = sql<string>`'/api/auth/connections/' || "organization_connections"."id" || '/callback'`;

const scopeOfOAuth = z.string().regex(/^[!#-[\]-~]{1,255}$/);

/** The client secret at the provider: a field of inputs only. */
export const clientSecret = z
  .string()
  .min(1)
  .max(1024)
  .meta({
    format: 'password',
    description: 'The secret of this service at the provider; no answer contains it.',
    examples: ['q8Zt4kV1sYw7'],
  });

/** How the members of an organization sign in through its own identity provider. */
export const OrganizationConnection = entity('OrganizationConnection', {
  table: organizationConnections,
  doc: 'An identity provider of an organization (OpenID Connect), through which its own people sign in.',
  fields: {
    name: {
      ...required(text(1, 64).meta({ description: 'What the sign-in pages call it.', examples: ['Acme'] })),
      out: z.string().describe('What the sign-in pages call it.'),
    },
    issuer: required(
      issuerUrl.meta({
        description: 'The issuer of the provider, equal to the letter to the one in its metadata.',
        examples: ['https://login.example.com'],
      }),
    ),
    clientId: required(
      text(1, 255).meta({ description: 'The id of this service at the provider.', examples: ['doorward'] }),
    ),
    scopes: optional(
      z
        .array(scopeOfOAuth)
        .min(1)
        .max(20)
        .refine((scopes) => scopes.includes('openid'), { message: 'must contain openid' })
        .meta({
          description: 'What is asked of the provider; `openid` among it.',
          examples: [['openid', 'email', 'profile']],
        }),
      ['openid', 'email', 'profile'],
    ),
    domainIds: {
      ...required(
        z
          .array(uuid)
          .min(1)
          .max(20)
          .transform((ids) => [...new Set(ids)].sort())
          .meta({
            description:
              'Domains of the organization whose addresses the provider vouches for, as far as they are verified.',
            examples: [['0190b6f0-0000-7000-8000-000000000090']],
          }),
      ),
      out: z
        .array(uuid)
        .describe(
          'Domains of the organization whose addresses the provider vouches for, as far as they are verified.',
        ),
    },
    defaultRoleId: required(
      uuid.meta({
        description: 'The role of a new member; not Organization Owner.',
        examples: [roleIdOf('Organization Viewer')],
      }),
    ),
    justInTime: optional(
      z.boolean().describe('true: who signs in through it becomes a member; false: only members sign in.'),
      true,
    ),
    enforced: {
      ...optional(
        z
          .boolean()
          .describe('true: members with an address of these domains reach the organization only through it.'),
        false,
      ),
      create: undefined,
    },
    trustMfa: optional(
      z.boolean().describe('true: a second factor that the provider reports counts in the organization.'),
      false,
    ),
    status: optional(OrganizationConnectionStatus.describe('Whether people sign in through it.'), 'draft'),
    callbackPath: serverSet(
      z.string().meta({
        description:
          'The path at this service to which the provider sends the browser back: register it there.',
        examples: ['/api/auth/connections/0190b6f0-0000-7000-8000-000000000095/callback'],
      }),
    ),
    provedAt: serverSet(
      iso.nullable().describe('When a person first signed in with this issuer and client; null: not yet.'),
    ),
    lastUsedAt: serverSet(iso.nullable().describe('When a person last signed in through it; null: not yet.')),
  },
  computed: { callbackPath },
  sort: ['createdAt', 'name', 'status'],
  search: ['name', 'issuer'],
});
