import { SYSTEM_NODE } from '../../schema/nodes.ts';
import type { AppRequest } from './app-request.ts';
import type { LiveApp } from './app.ts';

/**
 * A sign-in on the hosted pages to this service itself, without an app, as for the account pages. The service takes the part of
 * the app, and has no row: it offers all ways to sign in that are configured, and admits every user.
 */
export const SERVICE_ID = '00000000-0000-0000-0000-000000000000';

export const isServiceItself = ({ id }: Pick<LiveApp, 'id'>): boolean => id === SERVICE_ID;

/** The request of a sign-in that ends at `page`, an address of this service or of one of its frontends. */
export const serviceRequest = (
  page: string,
  toService: NonNullable<AppRequest['toService']>,
): AppRequest => ({
  appId: SERVICE_ID,
  redirectUri: page,
  challenge: '',
  state: null,
  scopes: [],
  toService,
});

export const serviceAsApp = ({
  allowsSignUp,
  takesConnections,
}: NonNullable<AppRequest['toService']>): LiveApp => ({
  id: SERVICE_ID,
  policyKey: null,
  policyHold: null,
  tenantId: SYSTEM_NODE,
  clientId: SERVICE_ID,
  name: 'Doorward',
  logoUrl: null,
  homepageUrl: null,
  primaryColor: null,
  senderName: null,
  texts: [],
  redirectUris: [],
  scopes: [],
  enabledProviders: ['email', 'password', 'passkey', 'github'],
  identityProviders: [],
  postLogoutRedirectUris: [],
  backchannelLogoutUri: null,
  allowedOrigins: [],
  allowSignUp: allowsSignUp,
  // No user gets a role here, but only an app with a role has a form to sign up.
  signUpRoleId: SERVICE_ID,
  signUpRoleTenantId: SERVICE_ID,
  confidential: true,
  firstParty: true,
  accessTokenProfile: 'doorward',
  idTokenClaims: false,
  resources: [],
  secretHash: null,
  registrationHash: null,
  lastUsedAt: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  deletedAt: null,
  owner: { kind: 'account', id: SYSTEM_NODE },
  scope: { tenant: 'accountProject', id: `${SYSTEM_NODE}:${SYSTEM_NODE}` },
  organization: null,
  sliceId: null,
  takesConnections: takesConnections ? 'all' : 'none',
});
