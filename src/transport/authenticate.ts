import { covers } from '../access/cidrs.ts';
import type { Credentials, KeyState, SessionState } from '../access/credentials.ts';
import { readHeader, verifyJwt, type Claims } from '../crypto/jwt.ts';
import { keysTopic, type Keyring } from '../crypto/keyring.ts';
import type { Changes } from '../db/changes.ts';
import { createFreshCache } from '../db/fresh-cache.ts';
import type { Authentication, Principal } from '../kernel/context.ts';
import type { Clock } from '../kernel/ports.ts';

/**
 * `Authorization: Bearer` → who calls. A signature is verified once per token (and again when its key changes);
 * the state of session or key, user and project is asked on every request.
 */
export type Authenticate = (
  header: string | undefined,
  address: string,
) => Promise<Authentication> | Authentication;

interface Verified {
  /** As it came: what is found under its end is this token only if all of it is. */
  readonly header: string;
  readonly type: 'session' | 'ApiKey' | 'projectApp';
  readonly sub: string;
  readonly jti: string;
  readonly expMs: number;
  readonly tenantId: string;
}

/** Of its signature: no two tokens end alike, and a whole one takes long to look up. */
const END_CHARACTERS = 43;
const SCHEME = 'Bearer ';
const endOf = (header: string): string => header.slice(-END_CHARACTERS);

const missing: Authentication = { ok: false, reason: 'missing' };
const invalid: Authentication = { ok: false, reason: 'invalid' };
const expired: Authentication = { ok: false, reason: 'expired' };

export interface AuthenticateOptions {
  readonly keyring: Keyring;
  readonly credentials: Credentials;
  readonly changes: Changes;
  readonly clock: Clock;
  /** `aud` of every token. */
  readonly audience: string;
}

export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { keyring, credentials, changes, clock, audience } = options;
  const tokens = createFreshCache<Verified>(changes, 50_000);
  // One principal per state object: states are immutable and replaced when anything changes.
  const principals = new WeakMap<SessionState | KeyState, { readonly authentication: Authentication }>();

  async function verify(token: string, header: string): Promise<Verified | 'expired' | null> {
    let isExpired = false;
    const load = async () => {
      const named = readHeader(token);
      const key = named && (await keyring.verification(named.kid));
      if (!key) return null;
      const { publicKey, issuer, types, tenantId } = key;
      const verified = await verifyJwt(publicKey, token, { issuer, audience, types, now: clock.now() });
      if (!verified.ok) {
        isExpired = verified.reason === 'expired';
        return null;
      }
      const { type, sub, jti, exp } = verified.claims as Claims & { type: Verified['type'] };
      return {
        value: { header, type, sub, jti, expMs: exp * 1000, tenantId },
        topics: [keysTopic(tenantId)],
      };
    };
    // Kept in one spelling alone, so that nobody fills the memory with blanks; from before its key is read, so that one
    // which is revoked meanwhile makes it stale; and not shared with a load under the same end, which may be of another.
    const isPlain = header.length === SCHEME.length + token.length;
    const known = isPlain
      ? await tokens.renew(endOf(header), load)
      : await load().then((found) => found?.value ?? null);
    return isExpired ? 'expired' : known;
  }

  function judge(token: Verified, state: SessionState | KeyState | null, address: string): Authentication {
    if (!state?.alive) return invalid;
    const now = clock.now().getTime();
    if (state.expiresAt && state.expiresAt.getTime() <= now) return invalid;
    if (state.overdueFrom && state.overdueFrom.getTime() <= now) return invalid;
    if (state.userId !== token.sub) return invalid;
    if ('app' in state && !mayBear(token, state)) return invalid;
    if ('allowedCidrs' in state) {
      if (state.projectId !== token.tenantId) return invalid;
      if (state.allowedCidrs.length > 0 && !covers(state.allowedCidrs, address)) return invalid;
    }
    const known = principals.get(state);
    if (known) return known.authentication;
    const principal = 'allowedCidrs' in state ? keyPrincipal(token, state) : sessionPrincipal(token, state);
    const authentication: Authentication = { ok: true, principal };
    principals.set(state, { authentication });
    return authentication;
  }

  const stateOf = (token: Verified) =>
    token.type === 'ApiKey' ? credentials.key(token.jti) : credentials.session(token.jti);

  return (header, address) => {
    if (header === undefined) return missing;
    const known = tokens.peek(endOf(header));
    if (known?.header === header) {
      if (known.expMs <= clock.now().getTime()) return expired;
      const state = stateOf(known);
      return state instanceof Promise
        ? state.then((found) => judge(known, found, address))
        : judge(known, state, address);
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

/** A session of this service has tokens of this service; one of an app, those of the app's project. */
const mayBear = ({ type, tenantId }: Verified, { app }: SessionState): boolean =>
  app ? type === 'projectApp' && app.projectId === tenantId : type === 'session';

const sessionPrincipal = (token: Verified, state: SessionState): Principal => ({
  type: state.app ? 'projectApp' : 'session',
  userId: token.sub,
  credentialId: token.jti,
  name: state.name,
  emailVerified: state.emailVerified,
  verificationDeadline: state.verificationDeadline,
  acr: state.acr,
  mfaPending: state.mfaPending,
  authenticatedAt: state.authenticatedAt,
  pinned: state.app?.scope ?? null,
  consented: state.app?.consented ?? null,
  origins: state.app?.allowedOrigins ?? [],
});

const keyPrincipal = (token: Verified, state: KeyState): Principal => ({
  type: 'ApiKey',
  userId: token.sub,
  credentialId: token.jti,
  name: state.name,
  emailVerified: true,
  verificationDeadline: null,
  acr: 'aal1',
  mfaPending: false,
  authenticatedAt: null,
  pinned: state.scope,
  consented: null,
  origins: [],
});
