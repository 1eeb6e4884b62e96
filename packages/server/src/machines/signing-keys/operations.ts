import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { keysTopic } from '../../crypto/keys/keyring.ts';
import { rotateKeys } from '../../crypto/keys/rotation.ts';
import {
  signingKeys as signingKeysTable,
  SigningKey,
  SigningKeyStatus,
} from '../../schema/machines/signing-key.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import type { Services } from '../../services.ts';
import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { bare } from '../../kernel/output/reply.ts';
import { Scope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { uuid } from '../../kernel/input/values.ts';
import { liveProject } from '../../apps/access/live-project.ts';

export const signingKeys = query({
  rest: 'GET /signing-keys',
  access: 'SigningKey:Query',
  summary: 'List the signing keys of a project',
  tenants: ['accountProject', 'organizationProject'],
  input: {
    scope: Scope,
    ...paging(SigningKey),
    status: SigningKeyStatus.optional().describe('Only keys with this status.'),
  },
  output: pageOf(SigningKey),
  run: ({ db, input }) =>
    db.page(SigningKey, input, [input.status && eq(signingKeysTable.status, input.status)]),
});

export const rotateSigningKey = mutation({
  rest: 'POST /signing-keys/rotate',
  whileImpersonating: 'refused',
  access: 'SigningKey:Rotate',
  sessionOnly: true,
  stepUp: true,
  summary: 'Sign with the next key from now on',
  description:
    'Returns the key that signs now. The former key stays published while its tokens may be valid, and a new key is published as the next one.',
  tenants: ['accountProject', 'organizationProject'],
  input: {
    scope: Scope,
    revokeOld: z.boolean().default(false).meta({
      description:
        'true, for a leaked key: the earlier keys leave the JWKS at once, and every token that they signed is refused.',
    }),
  },
  output: SigningKey.schema,
  prepare: ({ services }) => services.keyPairs.take(),
  run: async (ctx) => {
    const { db, input, scope, services, tx, prepared: pair } = ctx;
    const { revokeOld } = input;
    const id = await rotateKeys(tx, services, {
      tenantId: scope.nodeId,
      pair,
      tokenMinutes: services.config.tokens.accessTokenMinutes,
      revokeOld,
    });
    ctx.invalidate(keysTopic(scope.nodeId));
    const active = await db.get(SigningKey, id);
    ctx.record({
      event: 'signing_key.rotated',
      data: { ...active, oldRevoked: revokeOld },
      target: { type: 'SigningKey', id },
      metadata: { kid: active.kid, oldRevoked: revokeOld },
    });
    return active;
  },
});

const Jwks = z
  .object({
    keys: z
      .array(
        z.object({
          kty: z.literal('RSA').describe('Key type.'),
          use: z.literal('sig').describe('Use: signatures.'),
          alg: z.literal('RS256').describe('The algorithm that it signs with.'),
          kid: z.string().describe('Its id in the header of tokens.'),
          n: z.string().describe('Modulus, base64url.'),
          e: z.string().describe('Exponent, base64url.'),
        }),
      )
      .describe('The keys that verify, in no particular order.'),
  })
  .meta({ id: 'Jwks', description: 'Public keys (RFC 7517).' });

/** Returns the JWKS with the caching headers that verifiers expect. REST adds the ETag, and sends 304 if it matches. */
async function answerJwks(
  tenantId: string,
  { tx, services }: { tx: Executor; services: Services },
  method: 'jwks' | 'jwksOfAll' = 'jwks',
) {
  const keys = await services.keyring[method](tenantId, tx);
  const maxAge = services.config.tokens.jwksMaxAgeSeconds;
  return bare({ keys }, { 'cache-control': `public, max-age=${maxAge}`, etag: '' });
}

const common = {
  access: 'public',
  only: 'rest',
  bare: true,
  limit: 'network',
  cors: 'any',
  output: Jwks,
} as const;

export const systemJwks = query({
  ...common,
  rest: 'GET ~/.well-known/jwks.json',
  summary: 'Read the keys of session tokens',
  input: {},
  run: (ctx) => answerJwks(SYSTEM_NODE, ctx),
});

export const auditJwks = query({
  ...common,
  rest: 'GET ~/.well-known/audit-jwks.json',
  summary: 'Read the keys of signed checkpoints in audit logs',
  description:
    'Every key with which the service has signed, so that old checkpoints can be verified. Not for tokens. A revoked key is left out, because its signatures prove nothing.',
  input: {},
  run: (ctx) => answerJwks(SYSTEM_NODE, ctx, 'jwksOfAll'),
});

export const organizationProjectJwks = query({
  ...common,
  rest: 'GET ~/org/:organizationId/prj/:projectId/.well-known/jwks.json',
  summary: "Read the keys of an organization project's tokens",
  input: {
    organizationId: uuid.describe('Id of the organization.'),
    projectId: uuid.describe('Id of the project.'),
  },
  codes: ['NOT_FOUND'],
  run: async (ctx) => {
    await liveProject(ctx.tx, 'organization', ctx.input.organizationId, ctx.input.projectId);
    return answerJwks(ctx.input.projectId, ctx);
  },
});

export const accountProjectJwks = query({
  ...common,
  rest: 'GET ~/acc/:accountId/prj/:projectId/.well-known/jwks.json',
  summary: "Read the keys of an account project's tokens",
  input: { accountId: uuid.describe('Id of the account.'), projectId: uuid.describe('Id of the project.') },
  codes: ['NOT_FOUND'],
  run: async (ctx) => {
    await liveProject(ctx.tx, 'account', ctx.input.accountId, ctx.input.projectId);
    return answerJwks(ctx.input.projectId, ctx);
  },
});
