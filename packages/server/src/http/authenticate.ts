import { covers } from '../kernel/input/cidrs.ts';
import {
  principalOfKey,
  type Credentials,
  type KeyState,
  type SessionState,
} from '../access/credentials/credentials.ts';
import { readHeader, verifyJwt, type Claims } from '../crypto/tokens/jwt.ts';
import { keysTopic, type Keyring } from '../crypto/keys/keyring.ts';
import type { Changes } from '../db/cache/changes.ts';
import { createFreshCache } from '../db/cache/fresh-cache.ts';
import type { ScopeRef } from '../kernel/scope.ts';
import type { Authentication, Principal } from '../kernel/context.ts';
import type { Clock } from '../kernel/ports.ts';

/**
 * Reads `Authorization: Bearer` and identifies the caller. A token's signature is verified once, and again if its key
 * changes. The state of the session or API key, of the user and of the project is checked on every request.
 */
export type Authenticate = (
  header: string | undefined,
  address: string,
) => Promise<Authentication> | Authentication;

interface Verified {
  /**
   * The complete header. The cache key is only its end, so a cached entry counts only if the complete header is equal.
   */
  readonly header: string;
  readonly type: 'session' | 'ApiKey' | 'projectApp';
  readonly sub: string;
  readonly jti: string;
  readonly expMs: number;
  readonly tenantId: string;
}

/**
 * How many of the last characters, which are part of the signature, identify a token. Hashing the whole header would
 * take longer.
 */
const END_CHARACTERS = 43;
const SCHEME = 'Bearer ';
const endOf = (header: string): string => header.slice(-END_CHARACTERS);

const missing: Authentication = { ok: false, reason: 'missing' };
const invalid: Authentication = { ok: false, reason: 'invalid' };
const expired: Authentication = { ok: false, reason: 'expired' };

interface AuthenticateOptions {
  readonly keyring: Keyring;
  readonly credentials: Credentials;
  readonly changes: Changes;
  readonly clock: Clock;
  /** The required `aud` of every token. */
  readonly audience: string;
  /** Networks from which operators may act for users; if empty, from any network. */
  readonly operatorNetworks: readonly string[];
}

export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { keyring, credentials, changes, clock, audience, operatorNetworks } = options;
  const tokens = createFreshCache<Verified>(changes, 50_000);
  // One principal per state object, because states are immutable and are replaced whenever anything changes.
  const authentications = new WeakMap<SessionState | KeyState, { readonly authentication: Authentication }>();

  async function verify(token: string, header: string): Promise<Verified | 'expired' | null> {
    let isExpired = false;
    const load = async () => {
      const tokenHeader = readHeader(token);
      const key = tokenHeader && (await keyring.verification(tokenHeader.kid));
      if (!key) return null;
      const { publicKey, issuer, types, tenantId } = key;
      const result = await verifyJwt(publicKey, token, { issuer, audience, types, now: clock.now() });
      if (!result.ok) {
        isExpired = result.reason === 'expired';
        return null;
      }
      const { type, sub, jti, exp } = result.claims as Claims & { type: Verified['type'] };
      return {
        value: { header, type, sub, jti, expMs: exp * 1000, tenantId },
        topics: [keysTopic(tenantId)],
      };
    };
    // Only the spelling with a single space is cached; otherwise a client could fill the cache by varying the spaces.
    // `renew` starts before the key is read, so that a key that is revoked in the meantime makes the entry stale. It
    // does not join a running load with the same cache key, because that load may be for another token.
    const isPlain = header.length === SCHEME.length + token.length;
    const verified = isPlain
      ? await tokens.renew(endOf(header), load)
      : await load().then((loaded) => loaded?.value ?? null);
    return isExpired ? 'expired' : verified;
  }

  function judge(token: Verified, state: SessionState | KeyState | null, address: string): Authentication {
    if (!state?.alive) return invalid;
    const now = clock.now().getTime();
    if (state.expiresAt && state.expiresAt.getTime() <= now) return invalid;
    if (state.overdueFrom && state.overdueFrom.getTime() <= now) return invalid;
    if (state.userId !== token.sub) return invalid;
    if ('app' in state && !mayBear(token, state)) return invalid;
    const isImpersonation = 'impersonator' in state && state.impersonator !== null;
    if (isImpersonation && operatorNetworks.length > 0 && !covers(operatorNetworks, address)) return invalid;
    if ('allowedCidrs' in state) {
      if (state.issuerId !== token.tenantId) return invalid;
      if (state.allowedCidrs.length > 0 && !covers(state.allowedCidrs, address)) return invalid;
    }
    const cached = authentications.get(state);
    if (cached) return cached.authentication;
    const principal =
      'allowedCidrs' in state ? principalOfKey(token.jti, state) : sessionPrincipal(token, state);
    const authentication: Authentication = { ok: true, principal };
    authentications.set(state, { authentication });
    return authentication;
  }

  const stateOf = (token: Verified) =>
    token.type === 'ApiKey' ? credentials.key(token.jti) : credentials.session(token.jti);

  return (header, address) => {
    if (header === undefined) return missing;
    const existing = tokens.peek(endOf(header));
    if (existing?.header === header) {
      if (existing.expMs <= clock.now().getTime()) return expired;
      const state = stateOf(existing);
      return state instanceof Promise
        ? state.then((match) => judge(existing, match, address))
        : judge(existing, state, address);
    }
    const token = /^bearer +([^\s,]+)$/i.exec(header)?.[1];
    if (token === undefined) return invalid;
    return (async () => {
      const verified = await verify(token, header);
      if (verified === 'expired') return expired;
      return verified === null ? invalid : judge(verified, await stateOf(verified), address);
    })();
  };
}

/** Whether the token was issued by the issuer of its session: the service, or the project of the app. */
const mayBear = ({ type, tenantId }: Verified, { app }: SessionState): boolean =>
  app ? type === 'projectApp' && app.projectId === tenantId : type === 'session';

const boundScope = ({ boundTo }: SessionState): ScopeRef | null =>
  boundTo === null ? null : { tenant: 'organization', id: boundTo };

export const sessionPrincipal = (
  token: { readonly sub: string; readonly jti: string },
  state: SessionState,
): Principal => ({
  type: state.app ? 'projectApp' : 'session',
  userId: token.sub,
  credentialId: token.jti,
  name: state.name,
  emailVerified: state.emailVerified,
  verificationDeadline: state.verificationDeadline,
  acr: state.acr,
  mfaPending: state.mfaPending,
  // An operator who acts for the user has never proved to be the user, so the sign-in counts as infinitely old.
  authenticatedAt: state.impersonator ? new Date(0) : state.authenticatedAt,
  impersonator: state.impersonator,
  pinned: state.app?.scope ?? boundScope(state),
  consented: state.app?.consented ?? null,
  origins: state.app?.allowedOrigins ?? [],
});
