import { z } from 'zod';
import { evaluate } from '@doorward/decision/evaluate';
import type { DecisionReason } from '@doorward/decision/reasons';
import type { KeyState, SessionState } from '../../access/credentials/credentials.ts';
import { readHeader, verifyJwt } from '../../crypto/tokens/jwt.ts';
import { fail, type DoorwardError } from '../../errors.ts';
import type { Principal } from '../../kernel/context.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { issuerOf, type LiveApp } from '../../apps/access/app.ts';
import { organizationClaims } from '../../sign-in/authorize/id-token.ts';
import { findPresentedToken } from '../../sessions/refresh-rotation.ts';

/**
 * Introspection (RFC 7662, openid §5): whether a token is valid now. A confidential app can ask about its own refresh
 * tokens and about access tokens of its own issuer. An API key with `Token:Introspect` can ask about access tokens of
 * its project. The response for any other token is `active: false`.
 */
export const Introspection = z
  .object({
    active: z.boolean().describe('Whether the token is valid now. False: there are no other members.'),
    token_type: z.literal('Bearer').optional().describe('Of an access token.'),
    client_id: z.string().optional().describe('The app that got it; absent for the token of an API key.'),
    scope: z
      .string()
      .optional()
      .describe('Permissions that the app may use now, where the user holds them; absent: not restricted.'),
    sub: z.string().optional().describe('Id of the user.'),
    iss: z.string().optional().describe('The issuer.'),
    aud: z
      .union([z.string(), z.array(z.string())])
      .optional()
      .describe('The audience: this service, and the resource servers that the app named.'),
    jti: z.string().optional().describe('The session or API key.'),
    iat: z.int().optional().describe('When it was issued, in seconds.'),
    exp: z.int().optional().describe('When it ends, in seconds.'),
    org_id: z.string().optional().describe('The organization for which the user signed in.'),
    org_name: z.string().optional().describe('Its name.'),
    auth_time: z.int().optional().describe('When the user signed in, in seconds.'),
    acr: z.enum(['aal1', 'aal2']).optional().describe('How many factors the user gave.'),
  })
  .meta({ id: 'TokenIntrospection', description: 'Whether a token is valid, and what it says (RFC 7662).' });

type Answer = z.output<typeof Introspection>;

const inactive: Answer = { active: false };

/** Introspects a token for a confidential app. Verifies a signature, so call it outside a transaction. */
export async function introspectForApp(
  db: Executor,
  services: Services,
  app: LiveApp,
  token: string,
): Promise<Answer> {
  return readHeader(token)
    ? ofAccessToken(services, app.tenantId, token)
    : ofRefreshToken(db, services, app, token);
}

/**
 * Introspects a token for an API key. Verifies a signature, so call it outside a transaction.
 *
 * @throws FORBIDDEN without `Token:Introspect` in the key's project. In a granted scope the permission has no effect,
 * because the project's tokens include those of other customers.
 */
export async function introspectForKey(
  services: Services,
  principal: Principal,
  token: string,
): Promise<Answer> {
  const { pinned } = principal;
  const at = pinned && (await services.resolver.resolve(principal, pinned));
  if (!at?.scope.projectId) throw notForKey('INVALID_SCOPE');
  const decision = evaluate(at.rights.grants, { resource: 'Token', action: 'Introspect' });
  if (!decision.authorized) throw notForKey(decision.reason);
  return ofAccessToken(services, at.scope.projectId, token);
}

const notForKey = (reason: DecisionReason): DoorwardError =>
  fail('FORBIDDEN', {
    reason,
    fix: 'Use a key of the project whose role holds Token:Introspect, or the credentials of a confidential app.',
  });

async function ofAccessToken(services: Services, projectId: string, token: string): Promise<Answer> {
  const { keyring, config, clock, credentials } = services;
  const header = readHeader(token);
  const key = header && (await keyring.verification(header.kid));
  if (key?.tenantId !== projectId) return inactive;
  const { issuer } = key;
  const expected = { issuer, audience: config.appUrl, types: ['projectApp', 'ApiKey'], now: clock.now() };
  const verified = await verifyJwt(key.publicKey, token, expected);
  if (!verified.ok) return inactive;
  const { type, sub, jti, iat, exp, aud } = verified.claims;
  const isOfApp = type === 'projectApp';
  const state = await (isOfApp ? credentials.session(jti) : credentials.key(jti));
  if (!state || !isValid(state, sub, clock.now())) return inactive;
  if ('app' in state ? state.app?.projectId !== projectId : state.issuerId !== projectId) return inactive;
  const common = { active: true, token_type: 'Bearer', sub, iss: issuer, jti } as const;
  const times = { iat: Number(iat), exp };
  return { ...common, ...times, aud: aud as string | string[], ...('app' in state && ofSession(state)) };
}

/** Applies the checks that every request with the token goes through. */
const isValid = (
  { alive, expiresAt, overdueFrom, userId }: SessionState | KeyState,
  sub: string,
  now: Date,
) =>
  alive &&
  userId === sub &&
  (expiresAt === null || expiresAt > now) &&
  (overdueFrom === null || overdueFrom > now);

const ofSession = ({ app, acr, authenticatedAt }: SessionState) => ({
  ...(app && { client_id: app.clientId }),
  ...(app?.consented && { scope: [...app.consented].join(' ') }),
  ...organizationClaims(app ?? { organization: null }),
  auth_time: Math.floor(authenticatedAt.getTime() / 1000),
  acr,
});

/**
 * Introspects a refresh token. Only the newest token of the session is active: the former one is still accepted for
 * seconds, but should not be used.
 */
async function ofRefreshToken(
  db: Executor,
  services: Services,
  app: LiveApp,
  token: string,
): Promise<Answer> {
  const { credentials, clock, config } = services;
  const presented = await findPresentedToken(db, services, token);
  if (!presented || presented.session.projectAppId !== app.id) return inactive;
  const { id, refreshHash, userId, expiresAt } = presented.session;
  if (presented.hash !== refreshHash) return inactive;
  const state = await credentials.session(id);
  if (!state || !isValid(state, userId, clock.now())) return inactive;
  const exp = Math.floor(expiresAt.getTime() / 1000);
  return { active: true, sub: userId, iss: issuerOf(config, app), jti: id, exp, ...ofSession(state) };
}
