/* Example data of each noun, for the catalogue. The ids are made up but consistent. */

const at = new Date('2026-01-15T09:30:00.000Z');
const later = new Date('2026-02-15T09:30:00.000Z');

const id = (n: number): string => `0190b6f0-0000-7000-8000-${String(n).padStart(12, '0')}`;
const [accountId, organizationId, projectId, userId, roleId, resourceId] = [1, 2, 3, 4, 5, 6].map(id) as [
  string,
  string,
  string,
  string,
  string,
  string,
];

const row = (n: number) => ({ id: id(n), createdAt: at, updatedAt: at, deletedAt: null });

/** Returns the row as it is after its deletion; for nouns without soft deletion, the row itself. */
export const deleted = <T extends object>(item: T): T =>
  'deletedAt' in item ? { ...item, deletedAt: later, updatedAt: later } : item;

const scope = <T extends 'organizationProject' | 'OrganizationProject'>(tenant: T) => ({
  tenant,
  id: `${organizationId}:${projectId}`,
});

export const apiKey = {
  ...row(7),
  clientId: id(8),
  scope: scope('OrganizationProject'),
  roleId,
  userId,
  name: 'Invoice export',
  description: null,
  expiresAt: new Date('2027-01-15T09:30:00.000Z'),
  allowedCidrs: ['203.0.113.0/24'],
  accessTokenProfile: 'doorward' as const,
  status: 'active' as const,
  lastUsedAt: null,
  lastUsedIp: null,
  createdBy: userId,
  createdByKeyId: null,
  revokedBy: null,
  revokedAt: null,
  revokedReason: null,
  rotatedAt: null,
  previousSecretExpiresAt: null,
};
export const rotatedApiKey = {
  ...apiKey,
  updatedAt: later,
  rotatedAt: later,
  previousSecretExpiresAt: new Date('2026-02-16T09:30:00.000Z'),
};
export const revokedApiKey = {
  ...apiKey,
  updatedAt: later,
  status: 'revoked' as const,
  revokedBy: userId,
  revokedAt: later,
  revokedReason: 'No longer needed',
};

export const organization = {
  ...row(2),
  name: 'Example Ltd',
  slug: 'example-ltd',
  accountId,
  requireMfaForSensitiveActions: false,
  supportAccess: true,
  logoUrl: null,
  primaryColor: null,
  suspendedAt: null,
  metadata: {},
};
export const suspendedOrganization = { ...organization, suspendedAt: at };

export const project = {
  ...row(3),
  name: 'Billing',
  slug: 'billing',
  description: null,
  owner: { tenant: 'organization' as const, id: organizationId },
  scope: scope('organizationProject'),
  metadata: {},
  dynamicRegistration: 'off' as const,
  registrableScopes: [],
  registrableResources: [],
};

export const projectApp = {
  ...row(15),
  projectId,
  clientId: id(16),
  name: 'Example app',
  logoUrl: 'https://app.example.com/logo.svg',
  homepageUrl: 'https://app.example.com/',
  primaryColor: '#0a7d5b',
  senderName: 'Example app',
  texts: [],
  redirectUris: ['https://app.example.com/callback'],
  scopes: ['invoice:read'],
  enabledProviders: ['email' as const, 'github' as const],
  identityProviders: [],
  allowedOrigins: ['https://app.example.com'],
  postLogoutRedirectUris: ['https://app.example.com/goodbye'],
  backchannelLogoutUri: null,
  allowSignUp: true,
  signUpRoleId: roleId,
  confidential: true,
  firstParty: false,
  accessTokenProfile: 'doorward' as const,
  idTokenClaims: false,
  resources: ['https://api.example.com'],
  registered: false,
};

export const membership = { id: userId, organizationId, userId, roleId };
export const participation = { id: userId, projectId, userId, roleIds: [roleId] };

export const invitation = {
  ...row(9),
  organizationId,
  email: 'ada@example.com',
  roleId,
  grants: [],
  status: 'pending' as const,
  invitedBy: userId,
  expiresAt: new Date('2026-01-22T09:30:00.000Z'),
  lastSentAt: at,
  acceptedAt: null,
  revokedAt: null,
};
export const acceptedInvitation = { ...invitation, status: 'accepted' as const, acceptedAt: at };
export const revokedInvitation = { ...invitation, status: 'revoked' as const, revokedAt: at };

export const user = {
  ...row(4),
  name: 'Ada',
  email: 'ada@example.com',
  emailVerified: true,
  pictureUrl: null,
  locale: 'en' as const,
  status: 'active' as const,
  suspendedAt: null,
  kind: 'person' as const,
  isManaged: false,
  metadata: {},
};

export const methodChange = {
  id: user.id,
  change: 'added' as const,
  provider: 'github' as const,
  label: 'ada@example.com',
};

export const role = {
  ...row(5),
  name: 'Editor',
  description: null,
  metadata: {},
  level: 'project' as const,
  isSystem: false,
};

export const group = { ...row(10), name: 'Editing', description: null, metadata: {}, isSystem: false };

export const resource = {
  ...row(6),
  name: 'Invoice',
  slug: 'invoice',
  description: null,
  actions: ['read', 'approve'],
  isActive: true,
  metadata: {},
  isSystem: false,
};

export const permission = {
  ...row(11),
  name: 'invoice:approve',
  description: null,
  resourceId,
  action: 'approve',
  condition: null,
  resource: { id: resourceId, slug: 'invoice', name: 'Invoice', isSystem: false },
  metadata: {},
  isSystem: false,
};

export const session = {
  id: id(12),
  createdAt: at,
  kind: 'browser' as const,
  projectAppId: null,
  ssoProjectId: null,
  ssoSessionId: null,
  acr: 'aal1' as const,
  ipAddress: '203.0.113.7',
  userAgent: 'Mozilla/5.0',
  authenticatedAt: at,
  lastUsedAt: at,
  expiresAt: later,
};

export const rotation = {
  id: id(13),
  createdAt: at,
  kid: 'Jb1yN0P3',
  algorithm: 'RS256' as const,
  status: 'active' as const,
  isActive: true,
  publicKeyPem: '-----BEGIN PUBLIC KEY-----\n…\n-----END PUBLIC KEY-----\n',
  issuer: `http://localhost:4000/org/${organizationId}/prj/${projectId}`,
  activatedAt: later,
  retiredAt: null,
  publishedUntil: null,
  oldRevoked: false,
};

export const subscription = {
  ...row(14),
  projectId,
  url: 'https://hooks.example.com/doorward',
  eventTypes: ['api_key.*', 'project.updated'],
  description: 'Key inventory',
  active: true,
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  lastDeliveredAt: at,
  previousSecretExpiresAt: null,
  createdBy: userId,
};
export const failingSubscription = { ...subscription, failingSince: later };
export const disabledSubscription = {
  ...failingSubscription,
  disabledReason: 'failing' as const,
  disabledAt: new Date('2026-02-20T09:30:00.000Z'),
};

export const impersonation = { id: id(40), userId, reason: 'Ticket 4711: the list stays empty' };
export const projectGrant = {
  id: id(40),
  projectId,
  organizationId: id(41),
  name: 'Acme',
  roleIds: [roleId],
  metadata: { seats: 25 },
  maxUsers: 25,
  features: ['apiKeys', 'webhooks', 'audit'],
  status: 'active',
  revokedBy: null,
  revokedReason: null,
};
export const declinedGrant = { ...projectGrant, organizationId: null, status: 'declined' };
export const suspendedGrant = {
  ...projectGrant,
  status: 'suspended',
  revokedReason: 'The invoice is overdue',
};
export const revokedGrant = {
  ...projectGrant,
  status: 'revoked',
  revokedBy: 'owner',
  revokedReason: 'The contract has ended',
};
export const grantUser = {
  id: projectGrant.id,
  grantId: projectGrant.id,
  organizationId: projectGrant.organizationId,
  userId: id(43),
  roleIds: [roleId],
};

export const policyVersion = {
  id: id(90),
  createdAt: at,
  number: 12,
  version: 'fZ3Xq0yq0m3cJ9Vt1o3cWb1m6n0JmUu5m3cJ9Vt1o3c',
  createdBy: { type: 'apiKey' as const, id: id(7), userId },
  message: 'Clerks may approve their own invoices',
  source: {
    repository: 'acme/policy',
    commit: '4f2a1c0',
    url: 'https://git.example.com/acme/policy/4f2a1c0',
  },
  counts: { created: 1, updated: 2, deleted: 0 },
  rollbackOf: null,
  documentHash: '9e0dba4a94a369bdd0bb4c47fa25000067fe274d49440e04a629ec0922d3fc65',
};
