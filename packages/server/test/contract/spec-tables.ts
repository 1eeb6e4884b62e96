import type { JsonSchema } from '../../src/kernel/output/json-schema.ts';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import { Scope } from '../../src/kernel/scope.ts';

/**
 * The tables of the specification as data, in the same order and with the same texts. Each row has a check of the
 * declarations, the documents or the running service.
 */
export interface Facts {
  readonly operations: readonly NamedOperation[];
  /** By method and path as routed, e.g. `GET /api/roles/:id`. */
  readonly route: (route: string) => NamedOperation | undefined;
  readonly queries: ReadonlySet<string>;
  readonly mutations: ReadonlySet<string>;
  /** Definition of a response, e.g. `ApiKey`. */
  readonly output: (name: string) => JsonSchema | undefined;
  readonly input: (operation: string) => JsonSchema | undefined;
  /** Declared codes by operation, from the OpenAPI document. */
  readonly codes: (operation: string) => readonly string[];
  readonly live: Live;
}

/** Observations of the running service. */
export interface Live {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly tokenHeader: Readonly<Record<string, unknown>>;
  readonly key: Readonly<Record<string, unknown>>;
  /** How the secret is stored in the database. */
  readonly storedSecrets: string;
  readonly laterAnswers: string;
  readonly secret: string;
  readonly exchange: Readonly<Record<string, unknown>>;
  readonly expected: {
    readonly issuer: string;
    readonly audience: string;
    readonly userId: string;
    readonly scope: unknown;
  };
  readonly states: Readonly<Record<string, unknown>>;
  readonly audited: ReadonlySet<string>;
  readonly events: ReadonlySet<string>;
  readonly signIn: Readonly<Record<string, unknown>>;
  readonly refreshCookie: string;
  readonly verifiable: boolean;
  readonly statuses: Readonly<Record<string, number>>;
  readonly envelopes: Readonly<Record<string, unknown>>;
  readonly relations: { readonly absent: readonly string[]; readonly present: readonly string[] };
  readonly retryAfter: string;
  /** Requests per second. */
  readonly limits: { readonly auth: number; readonly general: number };
  readonly production: {
    readonly introspection: boolean;
    readonly toggled: boolean;
    readonly development: boolean;
  };
}

interface Row {
  readonly table: string;
  readonly says: string;
  readonly holds: (facts: Facts) => boolean;
}

interface Counted {
  readonly tag: string;
  readonly count: number;
  /** The endpoints that are counted (docs/spec/rest.md). */
  readonly routes: readonly string[];
}

const crud = (plural: string): string[] => [
  `GET /api/${plural}`,
  `POST /api/${plural}`,
  `PATCH /api/${plural}/:id`,
  `DELETE /api/${plural}/:id`,
];

/** Resource kinds (REST tags, with endpoint counts). */
export const kinds: readonly Counted[] = [
  {
    tag: 'Authentication',
    count: 10,
    routes: [
      'POST /api/auth/login',
      'POST /api/auth/register',
      'POST /api/auth/refresh',
      'GET /api/auth/github',
      'GET /api/auth/github/callback',
      'GET /api/auth/project/app-info',
      'GET /api/auth/project/consent-info',
      'POST /api/auth/cli-callback',
      'POST /api/auth/token',
      'POST /api/auth/is-authorized',
    ],
  },
  {
    tag: 'Me',
    count: 17,
    routes: [
      'GET /api/me',
      'PATCH /api/me',
      'DELETE /api/me',
      'POST /api/me/accounts',
      'GET /api/me/export',
      'POST /api/me/picture',
      'GET /api/me/authentication-methods',
      'POST /api/me/authentication-methods',
      'DELETE /api/me/authentication-methods/:id',
      'POST /api/me/change-password',
      'GET /api/me/sessions',
      'DELETE /api/me/sessions/:id',
      'GET /api/me/notifications',
      'POST /api/me/notifications/:id/read',
      'POST /api/me/notifications/read-all',
      'GET /api/me/notification-preferences',
      'PUT /api/me/notification-preferences',
    ],
  },
  { tag: 'Organizations', count: 5, routes: [...crud('organizations'), 'GET /api/organizations/:id'] },
  {
    tag: 'Organization Invitations',
    count: 7,
    routes: [
      'POST /api/organization-invitations/invite',
      'POST /api/organization-invitations/accept',
      'GET /api/organization-invitations/:token',
      'GET /api/organization-invitations',
      'POST /api/organization-invitations/:id/resend-email',
      'POST /api/organization-invitations/:id/renew',
      'DELETE /api/organization-invitations/:id',
    ],
  },
  {
    tag: 'Organization Members',
    count: 3,
    routes: [
      'GET /api/organization-members',
      'PATCH /api/organization-members/:userId',
      'DELETE /api/organization-members/:userId',
    ],
  },
  { tag: 'Projects', count: 4, routes: crud('projects') },
  { tag: 'Users', count: 5, routes: [...crud('users'), 'GET /api/users/:id'] },
  { tag: 'Roles', count: 4, routes: crud('roles') },
  { tag: 'Groups', count: 4, routes: crud('groups') },
  { tag: 'Permissions', count: 4, routes: crud('permissions') },
  { tag: 'Resources', count: 4, routes: crud('resources') },
  {
    tag: 'API Keys',
    count: 5,
    routes: [
      'GET /api/api-keys',
      'POST /api/api-keys',
      'POST /api/api-keys/:id/revoke',
      'DELETE /api/api-keys/:id',
      'POST /api/auth/token',
    ],
  },
  {
    tag: 'Webhook Subscriptions',
    count: 8,
    routes: [
      ...crud('webhook-subscriptions'),
      'GET /api/webhook-subscriptions/:id',
      'POST /api/webhook-subscriptions/:id/rotate-secret',
      'GET /api/webhook-subscriptions/deliveries',
      'POST /api/webhook-subscriptions/deliveries/:id/replay',
    ],
  },
  { tag: 'Tags', count: 4, routes: crud('tags') },
  { tag: 'Signing Keys', count: 2, routes: ['GET /api/signing-keys', 'POST /api/signing-keys/rotate'] },
];

type Holds = Row['holds'];
const table = (name: string, rows: Readonly<Record<string, Holds>>): Row[] =>
  Object.entries(rows).map(([says, holds]) => ({ table: name, says, holds }));

const served =
  (route: string, access?: string): Holds =>
  ({ route: find }) => {
    const op = find(route);
    return op !== undefined && (access === undefined || op.access === access);
  };
const allOf =
  (...checks: readonly Holds[]): Holds =>
  (facts) =>
    checks.every((check) => check(facts));
const query =
  (name: string): Holds =>
  ({ queries }) =>
    queries.has(name);
const mutation =
  (name: string): Holds =>
  ({ mutations }) =>
    mutations.has(name);
const claim =
  (name: string, expected: (live: Live) => unknown): Holds =>
  ({ live }) =>
    JSON.stringify(live.claims[name]) === JSON.stringify(expected(live));
const takes =
  (operation: string, ...names: readonly string[]): Holds =>
  ({ input }) =>
    names.every((name) => name in (input(operation)?.properties ?? {}));
const needs =
  (operation: string, ...names: readonly string[]): Holds =>
  ({ input }) =>
    names.every((name) => input(operation)?.required?.includes(name));
const answers =
  (definition: string, ...names: readonly string[]): Holds =>
  ({ output }) =>
    names.every((name) => name in (output(definition)?.properties ?? {}));

/** A plaintext secret may be encoded in several ways. */
const spellings = (secret: string): string[] => [
  secret,
  Buffer.from(secret).toString('hex'),
  Buffer.from(secret).toString('base64').slice(0, 40),
];

const item = '0190b6f0-0000-7000-8000-000000000001';
const reads = (tenant: string, id: string): boolean => Scope.safeParse({ tenant, id }).success;
const onlyPair =
  (...tenants: readonly string[]): Holds =>
  () =>
    tenants.every((tenant) => reads(tenant, `${item}:${item}`) && !reads(tenant, item));
const onlySingle =
  (tenant: string): Holds =>
  () =>
    reads(tenant, item) && !reads(tenant, `${item}:${item}`);

const graphqlGroups: Readonly<Record<string, readonly [queries: string, mutations: string]>> = {
  Authentication: ['me isAuthorized', 'login register refreshSession verifyEmail resetPassword'],
  Organizations: [
    'organizations organizationMembers organizationInvitations',
    'createOrganization inviteMember acceptInvitation',
  ],
  Projects: ['projects', 'createProject updateProject deleteProject'],
  RBAC: [
    'roles groups permissions resources',
    'createRole updateRole deleteRole createGroup updateGroup deleteGroup createPermission updatePermission ' +
      'deletePermission createResource updateResource deleteResource',
  ],
  Users: ['users', 'createUser updateUser deleteUser'],
  'API keys': ['apiKeys signingKeys', 'createApiKey exchangeApiKey rotateSigningKey'],
  Webhooks: [
    'webhookSubscriptions webhookSubscription webhookDeliveries',
    'createWebhookSubscription updateWebhookSubscription replayWebhookDelivery',
  ],
  Tags: ['tags', 'createTag updateTag deleteTag'],
  Me: [
    'myUserSessions myNotifications myNotificationPreferences',
    'changeMyPassword markMyNotificationRead setMyNotificationPreference',
  ],
};

const scoped = ({ operations }: Facts, ...methods: readonly string[]) =>
  operations.filter((op) => op.scoped && methods.includes(op.method));

export const rows: readonly Row[] = [
  ...table('What the service does', {
    'REST at /api/* and GraphQL at /graphql over one backend': ({ live, operations }) =>
      live.statuses['graphql'] === 200 && operations.some(({ path }) => path.startsWith('/api/')),
    'both take Authorization: Bearer <JWT>': ({ live }) =>
      live.statuses['rest with token'] === 200 && live.statuses['graphql with token'] === 200,
    'interactive documentation at /api-docs': ({ live }) => live.statuses['/api-docs'] === 200,
    'OpenAPI description at /api-docs.json': ({ live }) => live.statuses['/api-docs.json'] === 200,
    'sign in, register, refresh, log out': allOf(
      served('POST /api/auth/login'),
      served('POST /api/auth/register'),
      served('POST /api/auth/refresh'),
      served('POST /api/auth/logout'),
    ),
    'sign-in through an external code host': served('GET /api/auth/github'),
    'project-level sign-in flow': served('GET /api/auth/project/authorize'),
    'API keys are exchanged for a short-lived JWT': ({ live }) =>
      typeof live.exchange['accessToken'] === 'string',
    'a REST endpoint checks authorization': served('POST /api/auth/is-authorized'),
    'a user exports his data as a file': served('GET /api/me/export'),
    'public signing keys (JWKS)': served('GET /.well-known/jwks.json', 'public'),
    'create of a key is in the audit log': ({ live }) => live.audited.has('createApiKey'),
    'revoke of a key is in the audit log': ({ live }) => live.audited.has('revokeApiKey'),
    'delete of a key is in the audit log': ({ live }) => live.audited.has('deleteApiKey'),
    'exchange of a key is in the audit log': ({ live }) => live.audited.has('exchangeApiKey'),
  }),
  ...table('Transport choice', {
    'REST: browser-redirect flows': allOf(
      served('GET /api/auth/github'),
      served('GET /api/auth/github/callback'),
    ),
    'REST: file downloads': served('GET /api/me/export'),
    'REST: well-known discovery': served('GET /.well-known/jwks.json'),
    'REST: API key token exchange': served('POST /api/auth/token'),
    'no operation exists only in GraphQL': ({ queries, mutations, operations }) =>
      [...queries, ...mutations].every((name) => operations.some((op) => op.name === name && op.path !== '')),
    'an embedded explorer outside production': ({ live }) => live.statuses['explorer'] === 200,
    'introspection on outside production': ({ live }) => live.production.development,
    'introspection off in production': ({ live }) => !live.production.introspection,
    'an environment variable toggles introspection': ({ live }) => live.production.toggled,
  }),
  ...kinds.map(({ tag, count, routes }) => ({
    table: 'Resource kinds',
    says: `${tag} (${count})`,
    holds: ({ route }: Facts) => routes.filter((entry) => route(entry)).length >= count,
  })),
  ...table('Scope object', {
    'tenant: account, organization, accountProject, organizationProject': () =>
      reads('account', item) &&
      reads('organization', item) &&
      reads('accountProject', `${item}:${item}`) &&
      reads('organizationProject', `${item}:${item}`) &&
      !reads('tenant', item),
    'PascalCase forms ProjectUser, AccountProject, OrganizationProject': onlyPair(
      'ProjectUser',
      'AccountProject',
      'OrganizationProject',
    ),
    'account: <account_id>': onlySingle('account'),
    'organization: <organization_id>': onlySingle('organization'),
    'accountProject: <account_id>:<project_id>': onlyPair('accountProject'),
    'organizationProject: <organization_id>:<project_id>': onlyPair('organizationProject'),
    'ProjectUser: <project_id>:<user_id>': onlyPair('ProjectUser', 'projectUser'),
  }),
  ...table('API key', {
    'key id is the jti of its tokens': ({ live }) => live.claims['jti'] === live.key['id'],
    'clientId is a UUID': ({ live }) => /^[0-9a-f-]{36}$/.test(String(live.key['clientId'])),
    'clientSecret is base64url': ({ live }) => /^[A-Za-z0-9_-]{32,}$/.test(live.secret),
    'clientSecret is answered only by create': ({ live, output }) =>
      !live.laterAnswers.includes(live.secret) && !('clientSecret' in (output('ApiKey')?.properties ?? {})),
    'clientSecret is stored hashed': ({ live }) =>
      live.storedSecrets.length > 40 &&
      spellings(live.secret).every((spelling) => !live.storedSecrets.includes(spelling)),
    'scope, fixed at creation': allOf(answers('ApiKey', 'scope'), ({ operations }) =>
      operations.every(({ name }) => name !== 'updateApiKey'),
    ),
    'role: the creator’s when none is given': ({ live }) => typeof live.key['roleId'] === 'string',
    'expiresAt, optional': allOf(
      takes('createApiKey', 'expiresAt'),
      ({ live }) => live.states['exchange after expiry'] === 401,
    ),
    'revocation record: who and when': ({ live }) =>
      live.states['revokedBy'] === live.expected.userId && typeof live.states['revokedAt'] === 'string',
    'associated user is the sub of its tokens': ({ live }) => live.claims['sub'] === live.key['userId'],
  }),
  ...table('Scope kinds of an API key', {
    ProjectUser: ({ live }) => live.states['create ProjectUser'] === 201,
    AccountProject: ({ live }) => live.states['create AccountProject'] === 201,
    OrganizationProject: ({ live }) => live.states['create OrganizationProject'] === 201,
  }),
  ...table('Access token claims', {
    'signed RS256': ({ live }) => live.tokenHeader['alg'] === 'RS256' && live.verifiable,
    sub: claim('sub', ({ expected }) => expected.userId),
    iss: claim('iss', ({ expected }) => expected.issuer),
    aud: claim('aud', ({ expected }) => expected.audience),
    jti: claim('jti', ({ key }) => key['id']),
    type: claim('type', () => 'ApiKey'),
    scope: claim('scope', ({ expected }) => expected.scope),
    exp: ({ live }) =>
      Number(live.claims['exp']) === Number(live.claims['iat']) + Number(live.exchange['expiresIn']),
    'projectApp tokens with scopes': served('POST /api/auth/project/token'),
  }),
  ...table('API key states', {
    'POST /api-keys → active, needs ApiKey:Create': allOf(
      served('POST /api/api-keys', 'ApiKey:Create'),
      ({ live }) => live.key['status'] === 'active' && live.events.has('api_key.created'),
    ),
    'revoke → revoked, needs ApiKey:Revoke': allOf(
      served('POST /api/api-keys/:id/revoke', 'ApiKey:Revoke'),
      ({ live }) =>
        live.states['revoked'] === 'revoked' &&
        live.states['exchange after revoke'] === 401 &&
        live.events.has('api_key.revoked'),
    ),
    'expiresAt passes → expired': ({ live }) =>
      live.states['expired'] === 'expired' && live.states['exchange after expiry'] === 401,
    'DELETE → deleted, needs ApiKey:Delete': allOf(
      served('DELETE /api/api-keys/:id', 'ApiKey:Delete'),
      ({ live }) => typeof live.states['deletedAt'] === 'string' && live.states['get after delete'] === 404,
    ),
    'a revoked key can be deleted': ({ live }) => live.states['delete after revoke'] === 200,
    'delete is soft or hard': takes('deleteApiKey', 'hardDelete'),
    'revoke applies to an active key only': ({ live }) => live.states['revoke twice'] === 409,
  }),
  ...table('Scope passing', {
    'GET, DELETE: scopeId and tenant in the query': (facts) =>
      scoped(facts, 'GET', 'DELETE').length > 0 && facts.live.statuses['scope in query'] === 200,
    'POST, PATCH: scope in the body': (facts) =>
      scoped(facts, 'POST', 'PATCH').every(({ name }) => 'scope' in (facts.input(name)?.properties ?? {})),
    'GraphQL: input.scope': ({ live }) => live.statuses['graphql scope'] === 200,
  }),
  ...table('Field selection', {
    'roles: relations=groups,tags': ({ live }) => live.relations.present.join() === 'groups,tags',
    'base fields only when absent': ({ live }) => live.relations.absent.length === 0,
  }),
  ...table('Response envelopes', {
    'REST success: {success: true, data}': ({ live }) => live.envelopes['success'] === 'success,data',
    'REST error: {error, code}': ({ live }) => String(live.envelopes['error']).startsWith('error,code'),
    'GraphQL error: {data: null, errors: [{message, extensions: {code}}]}': ({ live }) =>
      live.envelopes['graphql'] === 'NOT_FOUND',
  }),
  ...table('API keys', {
    'GET /api-keys, ApiKey:Query, paginated and searchable': allOf(
      served('GET /api/api-keys', 'ApiKey:Query'),
      takes('apiKeys', 'page', 'limit', 'search'),
    ),
    'POST /api-keys, ApiKey:Create': allOf(
      served('POST /api/api-keys', 'ApiKey:Create'),
      needs('createApiKey', 'scope'),
      takes('createApiKey', 'roleId', 'expiresAt'),
      answers('ApiKeyWithSecret', 'clientId', 'clientSecret'),
    ),
    'POST /api-keys/:id/revoke, ApiKey:Revoke': served('POST /api/api-keys/:id/revoke', 'ApiKey:Revoke'),
    'DELETE /api-keys/:id, ApiKey:Delete': served('DELETE /api/api-keys/:id', 'ApiKey:Delete'),
    'POST /auth/token, no permission': served('POST /api/auth/token', 'public'),
    'exchange takes clientId, clientSecret, scope': needs(
      'exchangeApiKey',
      'clientId',
      'clientSecret',
      'scope',
    ),
    'exchange answers accessToken and expiresIn': ({ live }) =>
      typeof live.exchange['accessToken'] === 'string' && Number.isInteger(live.exchange['expiresIn']),
  }),
  ...table('Authentication endpoints', {
    'POST /auth/login': allOf(
      served('POST /api/auth/login', 'public'),
      needs('login', 'provider', 'providerId', 'providerData'),
      ({ live }) => ['accessToken', 'refreshToken', 'accounts'].every((name) => name in live.signIn),
    ),
    'POST /auth/register': served('POST /api/auth/register', 'public'),
    'POST /auth/refresh': allOf(
      served('POST /api/auth/refresh', 'public'),
      takes('refreshSession', 'accessToken', 'refreshToken'),
    ),
    'GET /auth/github': served('GET /api/auth/github', 'public'),
    'GET /auth/github/callback': served('GET /api/auth/github/callback', 'public'),
    'GET /auth/project/app-info': served('GET /api/auth/project/app-info', 'public'),
    'GET /auth/project/consent-info': served('GET /api/auth/project/consent-info', 'public'),
    'POST /auth/cli-callback': served('POST /api/auth/cli-callback', 'public'),
    'POST /auth/token': served('POST /api/auth/token', 'public'),
    'POST /auth/is-authorized': served('POST /api/auth/is-authorized', 'any'),
    logout: served('POST /api/auth/logout'),
    'email verification': served('POST /api/auth/verify-email'),
    'password reset': allOf(
      served('POST /api/auth/request-password-reset'),
      served('POST /api/auth/reset-password'),
    ),
  }),
  ...table('Other REST endpoints', {
    'GET /me/export': served('GET /api/me/export'),
    'GET /.well-known/jwks.json, in three scoped variants': allOf(
      served('GET /.well-known/jwks.json', 'public'),
      served('GET /org/:organizationId/prj/:projectId/.well-known/jwks.json', 'public'),
      served('GET /acc/:accountId/prj/:projectId/.well-known/jwks.json', 'public'),
    ),
    'GET /signing-keys': served('GET /api/signing-keys', 'SigningKey:Query'),
    'POST /signing-keys/rotate': served('POST /api/signing-keys/rotate', 'SigningKey:Rotate'),
    'GET /organizations': served('GET /api/organizations', 'Organization:Query'),
    'GET, POST /roles': allOf(
      served('GET /api/roles', 'Role:Query'),
      served('POST /api/roles', 'Role:Create'),
      needs('createRole', 'name', 'scope'),
    ),
  }),
  ...Object.entries(graphqlGroups).flatMap(([group, [queries, mutations]]) => [
    ...table(
      `GraphQL: ${group}`,
      Object.fromEntries(queries.split(' ').map((name) => [`query ${name}`, query(name)])),
    ),
    ...table(
      `GraphQL: ${group}`,
      Object.fromEntries(mutations.split(' ').map((name) => [`mutation ${name}`, mutation(name)])),
    ),
  ]),
  ...table('Authentication', {
    'browser sessions: HttpOnly refresh-token cookie': ({ live }) =>
      /refresh=[^;]+;.*HttpOnly/i.test(live.refreshCookie),
    'revoked keys are rejected on exchange': ({ live }) => live.states['exchange after revoke'] === 401,
    'expired keys are rejected on exchange': ({ live }) => live.states['exchange after expiry'] === 401,
    'tokens are verifiable at the issuer URL': ({ live }) => live.verifiable,
    'API key endpoints need ApiKey:Query, Create, Revoke, Delete': allOf(
      served('GET /api/api-keys', 'ApiKey:Query'),
      served('POST /api/api-keys', 'ApiKey:Create'),
      served('POST /api/api-keys/:id/revoke', 'ApiKey:Revoke'),
      served('DELETE /api/api-keys/:id', 'ApiKey:Delete'),
    ),
  }),
  ...table('Events', {
    'api_key.created': ({ live }) => live.events.has('api_key.created'),
    'api_key.rotated': ({ live }) => live.events.has('api_key.rotated'),
    'api_key.revoked': ({ live }) => live.events.has('api_key.revoked'),
    'webhook subscriptions are project-scoped': ({ route }) =>
      route('POST /api/webhook-subscriptions')?.tenants?.every((tenant) => tenant.endsWith('Project')) ??
      false,
    'in-app notifications per user': served('GET /api/me/notifications', 'session'),
    'preferences per notification type': served('PUT /api/me/notification-preferences', 'session'),
  }),
  ...table('Errors and limits', {
    'code NOT_FOUND on both transports': ({ live }) =>
      live.envelopes['graphql'] === 'NOT_FOUND' && live.envelopes['code'] === 'NOT_FOUND',
    'every operation tells its codes': ({ operations, codes }) =>
      operations.every(({ name }) => codes(name).length > 0),
    '429 with Retry-After': ({ live }) => live.statuses['limited'] === 429 && Number(live.retryAfter) >= 1,
    'limits by SECURITY_RATE_LIMIT_*, stricter for authentication': ({ live }) =>
      live.statuses['limited'] === 429 && live.limits.auth < live.limits.general,
  }),
  ...table('Versioning', {
    'REST paths carry /api and no version segment': ({ operations }) =>
      operations.every(({ path }) => !/^\/(?:api\/)?v\d/.test(path)),
  }),
];
