import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { assertRecentSignIn } from '../../access/guard.ts';
import { equals } from '../../db/query/filters.ts';
import { pageOf, paging, relationsOf } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { text, uuid } from '../../kernel/input/values.ts';
import { callerOf } from '../../kernel/context.ts';
import { exchange, prepareExchange } from '../../oauth/api-key-exchange/exchange.ts';
import { fail } from '../../errors.ts';
import { newApiKeySecret } from '../../crypto/tokens/secrets.ts';
import { ApiKey, ApiKeyStatus, statusSql } from '../../schema/machines/api-key.ts';
import { networksAfterRotation, networksForNewKey } from './networks.ts';
import { assertExpiry, assertCanRotate, roleForNewKey } from './new-key.ts';
import { needsSessionToRotate, isManagementScope } from './management-key.ts';
import {
  assertWithinSliceLimit,
  auditMetadata,
  hardDelete,
  markRevoked,
  replaceSecret,
  scopeColumns,
  storeSecret,
} from './store.ts';

const tenants: readonly Tenant[] = [
  'account',
  'organization',
  'accountProject',
  'organizationProject',
  'projectUser',
];

const ApiKeyWithSecret = ApiKey.schema
  .extend({
    clientSecret: z.string().nullable().meta({
      description: 'The secret half of the credentials. Shown this once; null in an idempotent replay.',
    }),
  })
  .meta({
    id: 'ApiKeyWithSecret',
    description: 'An API key with its secret, which no other answer contains.',
  });

export const apiKeys = query({
  rest: 'GET /api-keys',
  access: 'ApiKey:Query',
  summary: 'List the API keys of a project, of one user in it, or of an organization or account',
  tenants,
  input: {
    scope: Scope,
    ...paging(ApiKey),
    status: ApiKeyStatus.optional().describe('Only keys in this state.'),
    createdByKeyId: uuid.optional().describe('Only keys that this key created.'),
  },
  output: pageOf(ApiKey),
  run: ({ db, input }) =>
    db.page(ApiKey, input, [
      input.status && eq(statusSql, input.status),
      equals(ApiKey, 'createdByKeyId', input.createdByKeyId),
    ]),
});

export const apiKey = query({
  rest: 'GET /api-keys/:id',
  access: 'ApiKey:Query',
  summary: 'Read an API key',
  tenants,
  input: { scope: Scope, id: uuid, ...relationsOf(ApiKey) },
  output: ApiKey.schema,
  target: ApiKey,
  run: ({ db, input, target }) => db.withRelations(ApiKey, target, input.relations),
});

export const createApiKey = mutation({
  rest: 'POST /api-keys',
  whileImpersonating: 'refused',
  access: 'ApiKey:Create',
  summary: 'Create an API key; its secret is answered once',
  description:
    'In an organization or account the key acts as the service user userId, with the role that it holds at each call, there and in the projects below; roleId is left out, and a session with a recent sign-in is needed.',
  sessionOnly: ({ scope }) => isManagementScope(scope),
  tenants,
  input: {
    scope: Scope,
    ...ApiKey.create,
    userId: uuid
      .optional()
      .describe(
        'The service user of the organization or account, which such a key needs; elsewhere not allowed.',
      ),
  },
  output: ApiKeyWithSecret,
  secrets: ['clientSecret'],
  status: 201,
  codes: [
    'ROLE_REQUIRED',
    'PRIVILEGE_ESCALATION',
    'SESSION_REQUIRED',
    'NOT_FOUND',
    'STEP_UP_REQUIRED',
    'CONFLICT',
  ],
  run: async (ctx) => {
    const { db, scope, services, tx } = ctx;
    // `scopeColumns` stores the scope in PascalCase, not as it was sent.
    const { scope: _, userId, ...input } = ctx.input;
    const principal = callerOf(ctx);
    if (principal.type === 'projectApp') throw fail('SESSION_REQUIRED');
    if (scope.level !== 'project') {
      assertRecentSignIn(principal, services.config.auth.stepUpMaxAgeMinutes, services.clock.now());
    }
    const role = await roleForNewKey(ctx);
    const expiresAt = await assertExpiry(tx, principal, input.expiresAt ?? null, services.clock.now());
    const clientSecret = newApiKeySecret();
    const created = await db.insert(ApiKey, {
      ...input,
      ...scopeColumns(scope),
      clientId: services.ids.random(),
      roleId: role?.id ?? null,
      roleTenantId: role?.tenantId ?? null,
      userId: userId ?? scope.userId ?? principal.userId,
      createdBy: principal.userId,
      createdByKeyId: principal.type === 'ApiKey' ? principal.credentialId : null,
      allowedCidrs: await networksForNewKey(tx, principal, input.allowedCidrs),
      expiresAt,
    });
    await assertWithinSliceLimit(ctx);
    await storeSecret(ctx, created.id, clientSecret);
    ctx.record({
      event: 'api_key.created',
      data: created,
      target: { type: 'ApiKey', id: created.id },
      metadata: auditMetadata(created),
    });
    return { ...created, clientSecret };
  },
});

const DAY_SECONDS = 86_400;

export const rotateApiKey = mutation({
  rest: 'POST /api-keys/:id/rotate',
  whileImpersonating: 'refused',
  access: 'ApiKey:Rotate',
  summary: 'Rotate the secret of an active API key; the old secret still works for a while',
  description:
    'The id, the clientId and tokens already issued stay valid. A second rotation ends the oldest secret at once. After a rotation by a key with allowedCidrs, the rotated key works from no other networks.',
  sessionOnly: needsSessionToRotate,
  tenants,
  input: {
    scope: Scope,
    id: uuid,
    graceSeconds: z
      .int()
      .min(0)
      .max(30 * DAY_SECONDS)
      .default(DAY_SECONDS)
      .meta({ description: 'Seconds for which the old secret still works; 0 ends it at once.' }),
  },
  output: ApiKeyWithSecret,
  secrets: ['clientSecret'],
  target: ApiKey,
  codes: ['INVALID_STATE', 'PRIVILEGE_ESCALATION', 'SESSION_REQUIRED'],
  stepUp: true,
  run: async (ctx) => {
    const { id, graceSeconds } = ctx.input;
    const { allowedCidrs: before } = ctx.target;
    await assertCanRotate(ctx, ctx.target);
    const allowedCidrs = await networksAfterRotation(ctx.tx, callerOf(ctx), before);
    if (allowedCidrs !== before) ctx.invalidate(`credential:${id}`);
    const clientSecret = newApiKeySecret();
    const rotated = await replaceSecret(ctx, id, { clientSecret, graceSeconds, allowedCidrs });
    ctx.record({
      event: 'api_key.rotated',
      data: rotated,
      target: { type: 'ApiKey', id },
      metadata: { ...auditMetadata(rotated), graceSeconds },
    });
    return { ...rotated, clientSecret };
  },
});

export const revokeApiKey = mutation({
  rest: 'POST /api-keys/:id/revoke',
  whileImpersonating: 'allowed',
  access: 'ApiKey:Revoke',
  summary: 'Revoke an active API key permanently',
  sessionOnly: ({ scope }) => isManagementScope(scope),
  tenants,
  input: {
    scope: Scope,
    id: uuid,
    reason: text(1, 255)
      .optional()
      .meta({ description: 'Why, for the audit log.', examples: ['No longer used'] }),
  },
  output: ApiKey.schema,
  target: ApiKey,
  codes: ['INVALID_STATE'],
  run: async (ctx) => {
    const revoked = await markRevoked(ctx, ctx.input.id, ctx.input.reason ?? null);
    ctx.invalidate(`credential:${revoked.id}`);
    ctx.record({
      event: 'api_key.revoked',
      data: revoked,
      target: { type: 'ApiKey', id: revoked.id },
      metadata: { ...auditMetadata(revoked), reason: revoked.revokedReason },
    });
    return revoked;
  },
});

export const deleteApiKey = mutation({
  rest: 'DELETE /api-keys/:id',
  whileImpersonating: 'allowed',
  access: 'ApiKey:Delete',
  summary: 'Delete an API key; hardDelete=true removes the row at once',
  sessionOnly: ({ scope }) => isManagementScope(scope),
  tenants,
  input: {
    scope: Scope,
    id: uuid,
    hardDelete: z
      .boolean()
      .default(false)
      .describe('true: remove the row at once and permanently; audit entries stay.'),
  },
  output: ApiKey.schema,
  target: ApiKey,
  run: async (ctx) => {
    const { db, input, tx } = ctx;
    const deleted = await db.remove(ApiKey, input.id);
    if (input.hardDelete) await hardDelete(tx, input.id);
    ctx.invalidate(`credential:${deleted.id}`);
    ctx.record({
      event: 'api_key.deleted',
      data: deleted,
      target: { type: 'ApiKey', id: deleted.id },
      metadata: { ...auditMetadata(deleted), hardDelete: input.hardDelete },
    });
    return deleted;
  },
});

const AccessToken = z
  .object({
    accessToken: z.string().meta({ description: 'An RS256 JWT; its `iss` has the JWKS to verify it with.' }),
    expiresIn: z.int().meta({ description: 'Seconds until the token expires.' }),
  })
  .meta({ id: 'AccessToken', description: 'A short-lived token.' });

export const exchangeApiKey = mutation({
  rest: 'POST /auth/token',
  whileImpersonating: 'refused',
  access: 'public',
  summary: 'Exchange an API key for a short-lived token',
  input: {
    clientId: uuid.meta({
      description: 'The client id of the key.',
      examples: ['8d8ac610-566d-4ef0-9c22-186b2a5ed793'],
    }),
    clientSecret: z
      .string()
      .min(1)
      .max(256)
      .meta({ description: 'The secret of the key, as it was shown once.', examples: ['dwk_your_secret'] }),
    scope: Scope,
  },
  output: AccessToken,
  codes: ['UNAUTHENTICATED'],
  permissionChange: 'none',
  groupCommit: true,
  prepare: prepareExchange,
  run: exchange,
});
