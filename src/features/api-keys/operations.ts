import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { pageOf, paging, relationsOf } from '../../kernel/inputs.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { text, uuid } from '../../values.ts';
import { callerOf } from '../../kernel/context.ts';
import { fail } from '../../errors.ts';
import { newApiKeySecret } from '../../crypto/secrets.ts';
import { ApiKey, ApiKeyStatus, statusSql } from './api-key.ts';
import { networksAfterRotation, networksForNewKey } from './networks.ts';
import { assertExpiry, assertMayRotate, roleForNewKey } from './new-key.ts';
import { exchange, loadCandidate } from './exchange.ts';
import { auditMetadata, hardDelete, markRevoked, replaceSecret, scopeColumns, storeSecret } from './store.ts';

const tenants: readonly Tenant[] = ['accountProject', 'organizationProject', 'projectUser'];

const ApiKeyWithSecret = ApiKey.schema
  .extend({
    clientSecret: z.string().nullable().meta({
      description: 'The secret half of the credentials. Shown this once; null in an idempotent replay.',
    }),
  })
  .meta({ id: 'ApiKeyWithSecret', description: 'An API key and its secret, which is answered only here.' });

export const apiKeys = query({
  rest: 'GET /api-keys',
  access: 'ApiKey:Query',
  summary: 'List the API keys of a project, or of one user in it',
  tenants,
  input: {
    scope: Scope,
    ...paging(ApiKey),
    status: ApiKeyStatus.optional().describe('Only keys in this state.'),
  },
  output: pageOf(ApiKey),
  run: ({ db, input }) => db.page(ApiKey, input, [input.status && eq(statusSql, input.status)]),
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
  access: 'ApiKey:Create',
  summary: 'Create an API key; its secret is answered once',
  tenants,
  input: { scope: Scope, ...ApiKey.create },
  output: ApiKeyWithSecret,
  secrets: ['clientSecret'],
  status: 201,
  codes: ['ROLE_REQUIRED', 'PRIVILEGE_ESCALATION', 'SESSION_REQUIRED', 'NOT_FOUND'],
  run: async (ctx) => {
    const { db, scope, services, tx } = ctx;
    // A key answers with its scope in a spelling of its own.
    const { scope: _, ...input } = ctx.input;
    const principal = callerOf(ctx);
    if (principal.type === 'projectApp') throw fail('SESSION_REQUIRED');
    const role = await roleForNewKey(ctx);
    const expiresAt = await assertExpiry(tx, principal, input.expiresAt ?? null, services.clock.now());
    const clientSecret = newApiKeySecret();
    const created = await db.insert(ApiKey, {
      ...input,
      ...scopeColumns(scope),
      clientId: services.ids.random(),
      roleId: role?.id ?? null,
      roleTenantId: role?.tenantId ?? null,
      userId: scope.userId ?? principal.userId,
      createdBy: principal.userId,
      allowedCidrs: await networksForNewKey(tx, principal, input.allowedCidrs),
      expiresAt,
    });
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
  access: 'ApiKey:Rotate',
  summary: 'Give an active API key another secret; the old one works on for a while',
  description:
    'The id, the clientId and the tokens that were minted stay as they are. A further rotation ends the oldest secret at once. Rotated by a key with allowedCidrs, it works from nowhere else afterwards.',
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
    await assertMayRotate(ctx, ctx.target);
    const allowedCidrs = await networksAfterRotation(ctx.tx, callerOf(ctx), before);
    if (allowedCidrs !== before) ctx.touch(`credential:${id}`);
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
  access: 'ApiKey:Revoke',
  summary: 'Revoke an active API key, for good',
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
    ctx.touch(`credential:${revoked.id}`);
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
  access: 'ApiKey:Delete',
  summary: 'Delete an API key: softly, or with hardDelete=true for good',
  tenants,
  input: {
    scope: Scope,
    id: uuid,
    hardDelete: z.boolean().default(false).describe('true: leave no trace of the row.'),
  },
  output: ApiKey.schema,
  target: ApiKey,
  run: async (ctx) => {
    const { db, input, tx } = ctx;
    const deleted = await db.remove(ApiKey, input.id);
    if (input.hardDelete) await hardDelete(tx, input.id);
    ctx.touch(`credential:${deleted.id}`);
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
    accessToken: z.string().meta({ description: 'RS256 JWT, verifiable through the JWKS at its iss.' }),
    expiresIn: z.int().meta({ description: 'Seconds until the token ends.' }),
  })
  .meta({ id: 'AccessToken', description: 'A short-lived token.' });

export const exchangeApiKey = mutation({
  rest: 'POST /auth/token',
  access: 'public',
  summary: 'Exchange an API key for a short-lived token',
  input: {
    clientId: uuid.meta({ description: 'Of the key.', examples: ['8d8ac610-566d-4ef0-9c22-186b2a5ed793'] }),
    clientSecret: z
      .string()
      .min(1)
      .max(256)
      .meta({ description: 'Of the key, as it was shown once.', examples: ['dwk_your_secret'] }),
    scope: Scope,
  },
  output: AccessToken,
  codes: ['UNAUTHENTICATED'],
  keepsRights: true,
  sharesCommit: true,
  prepare: loadCandidate,
  run: exchange,
});
