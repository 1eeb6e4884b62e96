/* Checks whether client credentials belong to an API key that may be used now, and if not, why. */

import { covers } from '../../kernel/input/cidrs.ts';
import type { CachedApiKey } from '../../access/credentials/api-key-cache.ts';
import { equalHashes, hashSecret, isDoorwardSecret } from '../../crypto/tokens/secrets.ts';
import { fail } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services } from '../../services.ts';
import { canonicalTenant, type ScopeInput } from '../../kernel/scope.ts';

/** The credentials that a client sent. */
export interface SentCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Null for OAuth clients, which cannot name a scope; the key's own scope then applies. */
  readonly scope: ScopeInput | null;
}

export type ExchangeFault = 'secret' | 'scope' | 'network' | 'revoked' | 'expired' | 'inactive' | 'overdue';

export interface CredentialCheck {
  readonly key: CachedApiKey;
  /** The stored secret that matches the secret sent. */
  readonly secret: CachedApiKey['secrets'][number] | null;
  /** Hash of the secret with the current pepper, if the stored hash uses an older one. */
  readonly rehash: Buffer | null;
  readonly fault: ExchangeFault | null;
}

export const unauthenticated = ({ scope }: SentCredentials) =>
  fail('UNAUTHENTICATED', {
    fix: scope
      ? 'Check clientId, clientSecret and scope; the key must be active and its scope named as it was created.'
      : 'Check client_id and client_secret: those of an API key that is active.',
  });

/**
 * The peppers (HMAC keys) of stored secrets, the current one first. Without them an attacker cannot test guesses on a
 * stolen table. The others derive from `ENCRYPTION_KEYS_OLD`, so that API keys survive a change of the encryption key.
 */
const peppersOf = ({ kek }: Pick<Services, 'kek'>): readonly Buffer[] => kek.deriveAll('api-key-pepper');

/**
 * Finds the API key of the credentials and checks them. Only failures count towards the rate limit, which is per client
 * id and network. A network over its limit is refused before any hash is compared.
 *
 * @throws UNAUTHENTICATED for an unknown client id; RATE_LIMITED
 */
export async function checkCredentials(
  services: Services,
  call: Call,
  sent: SentCredentials,
): Promise<CredentialCheck> {
  const { limiter, knownKeys, clock } = services;
  const guessBucket = `${sent.clientId} ${call.network}`;
  await limiter.consume('auth', guessBucket, 0);
  const sentHashes = peppersOf(services).map((pepper) => hashSecret(pepper, sent.clientSecret));
  const cached = knownKeys.peek(sent.clientId);
  let check =
    cached && compareCredentials(cached, sent, sentHashes, { address: call.address, now: clock.now() });
  if (!check || check.fault !== null) {
    // A refusal is never based on the cache, because another process may have just rotated the secret.
    const key = await knownKeys.read(sent.clientId);
    if (!key) {
      await limiter.consume('auth', guessBucket);
      throw unauthenticated(sent);
    }
    check = compareCredentials(key, sent, sentHashes, { address: call.address, now: clock.now() });
  }
  if (check.fault !== null) await limiter.consume('auth', guessBucket);
  return check;
}

interface CheckContext {
  readonly address: string;
  readonly now: Date;
}

function compareCredentials(
  key: CachedApiKey,
  input: SentCredentials,
  sentHashes: readonly Buffer[],
  context: CheckContext,
): CredentialCheck {
  // Compares every stored hash with the hash under every pepper, in constant time and without an early exit, against
  // timing attacks.
  const [matched] = key.secrets.flatMap((secret) => {
    const equal = sentHashes.map((sentHash) => equalHashes(secret.hash, sentHash));
    return equal.includes(true) ? [{ secret, isCurrent: equal[0] === true }] : [];
  });
  const rehash = matched && !matched.isCurrent ? (sentHashes[0] ?? null) : null;
  return { key, secret: matched?.secret ?? null, rehash, fault: faultOf(key, input, !!matched, context) };
}

function faultOf(
  key: CachedApiKey,
  { clientSecret, scope }: SentCredentials,
  secretMatches: boolean,
  { address, now }: CheckContext,
): ExchangeFault | null {
  if (key.revoked || key.expired) return key.revoked ? 'revoked' : 'expired';
  if (!secretMatches || !isDoorwardSecret(clientSecret)) return 'secret';
  if (scope && !isScopeOf(key, scope)) return 'scope';
  if (key.allowedCidrs.length > 0 && !covers(key.allowedCidrs, address)) return 'network';
  if (key.overdueFrom && key.overdueFrom <= now) return 'overdue';
  if (!key.isGranted) return 'inactive';
  // A project's key still works after its creator has left; the key of a user or service user does not.
  if (!isOfProject(key) && !key.userAlive) return 'inactive';
  return null;
}

const isScopeOf = ({ scope: { tenant, id } }: CachedApiKey, sent: ScopeInput): boolean =>
  canonicalTenant(sent.tenant) === canonicalTenant(tenant as ScopeInput['tenant']) && sent.id === id;

const isOfProject = ({ scope: { tenant } }: CachedApiKey): boolean =>
  tenant === 'AccountProject' || tenant === 'OrganizationProject';
