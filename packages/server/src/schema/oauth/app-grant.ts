import { boolean, index, pgTable, text as textColumn, unique, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { time, userColumn } from '../columns.ts';
import { openidScopes } from '../apps/openid-scope.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso, uuid } from '../../kernel/input/values.ts';
import { projectApps } from '../apps/project-app.ts';

/**
 * The consents of users, one row per user and app. A row only grows, until the user withdraws the consent. It decides
 * which requests need no new question, not what a token may do: each token gets only what its sign-in requests.
 */
export const appGrants = pgTable(
  'app_grants',
  {
    id: uuidColumn('id').primaryKey(),
    userId: userColumn(),
    projectAppId: uuidColumn('project_app_id')
      .notNull()
      .references(() => projectApps.id, { onDelete: 'cascade' }),
    /** The user consented while the app was unrestricted. Scopes that it later requests by name are not included. */
    unrestricted: boolean('unrestricted').notNull(),
    scopes: textColumn('scopes').array().notNull(),
    openidScopes: textColumn('openid_scopes', { enum: openidScopes }).array().notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
    updatedAt: time('updated_at').notNull().defaultNow(),
  },
  (table) => [
    unique('app_grants_user_app').on(table.userId, table.projectAppId),
    index('app_grants_app').on(table.projectAppId),
  ],
);

/** A grant as its user sees it. The names and the homepage come from other tables (`loadGrants`). */
export const AppGrant = entity('AppGrant', {
  table: appGrants,
  doc: 'What a user has consented to for one app.',
  without: ['deletedAt'],
  fields: {
    projectAppId: serverSet(uuid.describe('Id of the app.')),
    appName: serverSet(z.string().describe('What the sign-in pages call the app.')),
    homepageUrl: serverSet(z.string().nullable().describe('Web site of the app.')),
    projectName: serverSet(z.string().describe('The project of the app.')),
    organizationName: serverSet(
      z.string().nullable().describe('The organization of the project; null: it belongs to an account.'),
    ),
    unrestricted: serverSet(
      z.boolean().describe('true: everything that you may do with the resources of the project.'),
    ),
    scopes: serverSet(z.array(z.string()).describe('Permissions that the app may use where you hold them.')),
    openidScopes: serverSet(
      z
        .array(z.enum(openidScopes))
        .describe('What the app may know about you, and `offline_access`: that it may renew its tokens.'),
    ),
    updatedAt: serverSet(iso.describe('When you last consented.')),
  },
  sort: ['createdAt', 'updatedAt'],
  order: 'DESC',
});
