import { getTableColumns } from 'drizzle-orm';
import { projectApps } from '../../schema/apps/project-app.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import type { AppRequest } from './app-request.ts';
import type { LiveApp } from './app.ts';

/**
 * The id that stands for this service itself in a sign-in without an app, such as one for the account pages. The
 * service then acts as the app, without a row: it offers all sign-in methods that are configured, and admits every
 * user.
 */
export const SERVICE_APP_ID = '00000000-0000-0000-0000-000000000000';

export const isServiceItself = ({ id }: Pick<LiveApp, 'id'>): boolean => id === SERVICE_APP_ID;

/** Returns the request of a sign-in that ends at `page`, an address of this service or of one of its frontends. */
export const serviceRequest = (
  page: string,
  toService: NonNullable<AppRequest['toService']>,
): AppRequest => ({
  appId: SERVICE_APP_ID,
  redirectUri: page,
  challenge: '',
  state: null,
  scopes: [],
  toService,
});

type AppRow = typeof projectApps.$inferSelect;
type Unset = { readonly [C in keyof AppRow as null extends AppRow[C] ? C : never]: null };

/** Null for every column of an app that can be null. */
const unset = Object.fromEntries(
  Object.entries(getTableColumns(projectApps)).flatMap(([name, { notNull }]) =>
    notNull ? [] : [[name, null]],
  ),
) as Unset;

export const serviceAsApp = ({
  allowsSignUp,
  takesConnections,
}: NonNullable<AppRequest['toService']>): LiveApp => ({
  ...unset,
  id: SERVICE_APP_ID,
  tenantId: SYSTEM_NODE,
  clientId: SERVICE_APP_ID,
  name: 'Doorward',
  texts: [],
  redirectUris: [],
  scopes: [],
  enabledProviders: ['email', 'password', 'passkey', 'github'],
  identityProviders: [],
  postLogoutRedirectUris: [],
  allowedOrigins: [],
  allowSignUp: allowsSignUp,
  // The check of sign-up requires a role. No user is ever assigned this one.
  signUpRoleId: SERVICE_APP_ID,
  signUpRoleTenantId: SERVICE_APP_ID,
  confidential: true,
  firstParty: true,
  accessTokenProfile: 'doorward',
  idTokenClaims: false,
  resources: [],
  createdAt: new Date(0),
  updatedAt: new Date(0),
  owner: { kind: 'account', id: SYSTEM_NODE },
  scope: { tenant: 'accountProject', id: `${SYSTEM_NODE}:${SYSTEM_NODE}` },
  organization: null,
  sliceId: null,
  takesConnections: takesConnections ? 'all' : 'none',
});
