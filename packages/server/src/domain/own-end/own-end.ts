import { SYSTEM_NODE } from '../../db/tenancy/nodes.ts';
import type { AppRequest } from '../sign-in-flow/app-request.ts';
import type { LiveApp } from '../app-access/app.ts';

/**
 * This service itself as the end of a sign-in on the hosted pages (sign-in to the account pages). It has no row: it offers all
 * ways to sign in that are configured, and admits every user.
 */
const OWN_ID = '00000000-0000-0000-0000-000000000000';

export const isOwnEnd = ({ id }: Pick<LiveApp, 'id'>): boolean => id === OWN_ID;

/** The request of a sign-in that ends at `page`, an address of this service or of one of its frontends. */
export const ownRequest = (page: string, ownEnd: NonNullable<AppRequest['ownEnd']>): AppRequest => ({
  appId: OWN_ID,
  redirectUri: page,
  challenge: '',
  state: null,
  scopes: [],
  ownEnd,
});

export const ownEndOf = ({ allowsSignUp }: NonNullable<AppRequest['ownEnd']>): LiveApp => ({
  id: OWN_ID,
  tenantId: SYSTEM_NODE,
  clientId: OWN_ID,
  name: 'Doorward',
  logoUrl: null,
  homepageUrl: null,
  primaryColor: null,
  redirectUris: [],
  scopes: [],
  enabledProviders: ['email', 'password', 'passkey', 'github'],
  identityProviders: [],
  postLogoutRedirectUris: [],
  backchannelLogoutUri: null,
  allowedOrigins: [],
  allowSignUp: allowsSignUp,
  // No user gets a role here, but only an app with a role has a form to sign up.
  signUpRoleId: OWN_ID,
  signUpRoleTenantId: OWN_ID,
  confidential: true,
  firstParty: true,
  accessTokenProfile: 'doorward',
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
});
