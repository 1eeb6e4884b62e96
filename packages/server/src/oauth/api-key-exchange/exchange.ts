import { and, eq, gt, isNull, or, sql, type SQL } from 'drizzle-orm';
import { USE_NOTED_MS, type CachedApiKey } from '../../access/credentials/api-key-cache.ts';
import { deferToCommit } from '../../db/statements/deferred-results.ts';
import { recordset } from '../../db/statements/recordset.ts';
import { preparedRowsOf } from '../../db/statements/prepared.ts';
import { sequentially, batched } from '../../db/connection/group-commit.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services } from '../../services.ts';
import type { Recording } from '../../kernel/event.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import type { ScopeInput } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { inProfile } from '../../apps/access/token-profile.ts';
import { apiKeySecrets } from '../../schema/machines/api-key.ts';
import {
  checkCredentials,
  unauthenticated,
  type CredentialCheck,
  type ExchangeFault,
  type SentCredentials,
} from './credential-check.ts';

/*
 * Exchanges client credentials for a token. Every failure gets the same 401 (identity §11); the audit log of the key's
 * tenant records the cause if the client id exists. The token is signed before the transaction, and the transaction
 * decides: it reads the key again under a lock, so a key revoked in between gets no token even if it was still cached.
 * Exchanges use a group commit.
 */

interface Exchange {
  readonly input: SentCredentials;
  readonly call: Call;
  readonly services: Services;
  readonly tx: Executor;
}

/**
 * An exchange that was checked before its transaction, with the signed token; without a token if it will be refused.
 */
export interface PreparedExchange extends CredentialCheck {
  readonly token: { readonly accessToken: string; readonly expiresIn: number } | null;
}

/**
 * Before the transaction: finds the key, checks the credentials, and signs the token if they are valid.
 *
 * @throws UNAUTHENTICATED for an unknown client id; RATE_LIMITED
 */
export async function prepareExchange({
  input,
  call,
  services,
}: Omit<Exchange, 'tx'>): Promise<PreparedExchange> {
  const check = await checkCredentials(services, call, input);
  const { key, fault } = check;
  if (fault !== null) return { ...check, token: null };
  await services.limiter.consume('exchange', key.clientId);
  const token = await issueToken(services, key, input.scope, ({ claims, typ }) =>
    services.keyring.sign(key.issuerId, claims, { kid: key.kid, typ }),
  );
  return { ...check, token };
}

async function issueToken(
  { config, clock }: Services,
  key: CachedApiKey,
  sent: ScopeInput | null,
  sign: (token: ReturnType<typeof inProfile>) => Promise<string>,
) {
  const iat = Math.floor(clock.now().getTime() / 1000);
  const end = key.expiresAt ? Math.floor(key.expiresAt.getTime() / 1000) : Infinity;
  const exp = Math.min(iat + config.tokens.accessTokenMinutes * 60, end);
  const own = {
    sub: key.userId,
    aud: config.appUrl,
    jti: key.id,
    type: 'ApiKey',
    scope: sent ? { tenant: sent.tenant, id: sent.id } : key.scope,
    iat,
    exp,
  };
  const facts = { clientId: key.clientId, granted: null };
  const accessToken = await sign(inProfile(key.accessTokenProfile, own, facts));
  return { accessToken, expiresIn: exp - iat };
}

export interface ExchangeRun extends Exchange {
  record(recording: Recording): void;
  invalidate(topic: string): void;
  afterCommit(work: () => void): void;
}

/**
 * In the transaction: returns the token, or refuses and records why. A share lock on the key orders this exchange
 * before or after a concurrent revocation.
 */
export async function exchange(
  ctx: ExchangeRun & { readonly prepared: PreparedExchange },
): Promise<{ accessToken: string; expiresIn: number } | Refusal> {
  const { prepared, tx, call } = ctx;
  const { key } = prepared;
  let { fault, token } = prepared;
  if (token) {
    const recordsUse = key.useNotedUntil < performance.now();
    const locked = await batched(tx, lockKeys, { ...prepared, address: call.address, recordsUse });
    fault = await faultUnderLock(tx, prepared.secret, locked);
    if (recordsUse) ctx.afterCommit(() => void (key.useNotedUntil = performance.now() + USE_NOTED_MS));
    // No verifier would accept the token if its signing key has been revoked since.
    if (fault === null && !locked?.published) token = await batched(tx, reissueToken, ctx);
  }
  if (fault !== null || !token) return refuseKey(ctx, { ...prepared, fault });
  await renewHash(ctx, prepared);
  ctx.record({
    ...recordOf(key),
    event: 'api_key.exchanged',
    data: { id: key.id, clientId: key.clientId, scope: key.scope, userId: key.userId },
  });
  return token;
}

/** Members that all audit entries about the use of a key have. */
const recordOf = (key: CachedApiKey) => ({
  node: { id: key.nodeId, scope: key.nodeScope },
  target: { type: 'ApiKey', id: key.id },
  actor: { type: 'apiKey' as const, id: key.id, userId: key.userId, name: key.userName },
  metadata: { clientId: key.clientId, scope: key.scope, roleId: key.roleId, expiresAt: key.expiresAt },
});

/** Refuses the call, and records the reason in the audit log of the key's tenant. */
export function refuseKey(
  { record, input }: Pick<ExchangeRun, 'record' | 'input'>,
  { key, fault }: Pick<CredentialCheck, 'key' | 'fault'>,
): Refusal {
  const { metadata, ...common } = recordOf(key);
  record({ ...common, outcome: 'failed', code: 'UNAUTHENTICATED', metadata: { ...metadata, fault } });
  return refuse(unauthenticated(input));
}

/**
 * Stores the hash with the current pepper, if the stored hash uses an older one. This needs the secret in plain text,
 * which the service has only while a client sends it.
 */
export async function renewHash(
  { tx, invalidate }: Pick<ExchangeRun, 'tx' | 'invalidate'>,
  check: CredentialCheck,
): Promise<void> {
  if (!check.rehash) return;
  await batched(tx, storeRehash, check);
  invalidate(`credential:${check.key.id}`);
}

type LockRequest = PreparedExchange & { readonly address: string; readonly recordsUse: boolean };

/** The state of a key and its secret, read under the lock. */
interface LockedKey {
  readonly ordinal: number;
  readonly revoked: boolean;
  readonly expired: boolean;
  /** False for a key of a slice whose grant is not active. */
  readonly granted: boolean;
  readonly secretEnded: boolean;
  /** Whether the key has not been rotated since `prepareExchange` read it. */
  readonly unrotated: boolean;
  /** False if the token's signing key has been revoked. */
  readonly published: boolean;
}

/**
 * Share-locks the keys, ordered by id so that two processes cannot deadlock, and returns the state of each; undefined
 * if the key was purged. At most once a minute it records the use of a key, before the share lock: a transaction that
 * writes to a row that it has share-locked could deadlock.
 */
async function lockKeys(
  tx: Executor,
  requests: readonly LockRequest[],
): Promise<readonly (Omit<LockedKey, 'ordinal'> | undefined)[]> {
  const uses = new Map(
    requests.flatMap(({ key, address, recordsUse }) => (recordsUse ? [[key.id, address]] : [])),
  );
  if (uses.size > 0) await deferToCommit(tx, recordUses(tx, uses));
  // Exchanges that found their key in the cache share one secret object, so each secret is locked only once.
  const distinct = [...new Map(requests.map((request) => [request.secret, request])).values()];
  const lockedKeys = await preparedRowsOf<LockedKey>(tx, lockingQuery(distinct));
  const bySecret = new Map(lockedKeys.map((locked) => [distinct[locked.ordinal]?.secret, locked]));
  return requests.map(({ secret }) => bySecret.get(secret));
}

const recordUses = (tx: Executor, uses: ReadonlyMap<string, string>): Promise<unknown> =>
  tx.execute(sql`
    with used as (select * from ${recordset(
      [...uses].map(([id, address]) => ({ id, address })),
      'key_use(id uuid, address text)',
    )}),
      due as (select k.id, used.address from api_keys k join used using (id)
        where k.revoked_at is null and k.deleted_at is null and coalesce(k.expires_at > now(), true)
          and coalesce(k.last_used_at < now() - interval '1 minute', true)
        order by k.id for no key update of k)
    update api_keys k set last_used_at = now(), last_used_ip = due.address from due where k.id = due.id`);

/**
 * Finds each key and secret by id, so that the cost does not depend on how many exist. Also locks the signing key, so
 * that a rotation that revokes it commits either before this statement or after the exchange.
 */
function lockingQuery(exchanges: readonly PreparedExchange[]): SQL {
  const rows = exchanges.map(({ key, secret }, ordinal) => ({
    ordinal,
    key_id: key.id,
    secret_id: secret?.id,
    rotated_at: key.rotatedAt,
    kid: key.kid,
  }));
  const columns = 'request(ordinal int, key_id uuid, secret_id uuid, rotated_at text, kid text)';
  return sql`select requested.ordinal, k.revoked_at is not null or k.deleted_at is not null as "revoked",
      coalesce(k.expires_at <= now(), false) as "expired",
      not exists (select from project_grants g where g.id = k.tenant_id and g.status <> 'active') as "granted",
      not coalesce((select coalesce(s.expires_at > now(), true) from api_key_secrets s where s.id = requested.secret_id), false) as "secretEnded",
      k.rotated_at::text is not distinct from requested.rotated_at as "unrotated",
      exists (select from signing_keys g where g.kid = requested.kid and g.status <> 'revoked' for share) as "published"
    from (select * from ${recordset(rows, columns)} order by key_id) requested
    cross join lateral (select * from api_keys where id = requested.key_id for share) k`;
}

async function faultUnderLock(
  tx: Executor,
  secret: PreparedExchange['secret'],
  locked: Omit<LockedKey, 'ordinal'> | undefined,
): Promise<ExchangeFault | null> {
  if (!locked?.granted || locked.revoked) return !locked || locked.revoked ? 'revoked' : 'inactive';
  if (locked.expired) return 'expired';
  if (locked.secretEnded) return 'secret';
  // A rotation since the comparison, perhaps while this transaction waited for the lock, may have ended the secret.
  return locked.unrotated || (await batched(tx, isSecretValid, secret)) ? null : 'secret';
}

const isSecretValid = sequentially(async (tx, secret: PreparedExchange['secret']): Promise<boolean> => {
  if (secret === null) return false;
  const { id, expiresAt } = apiKeySecrets;
  const rows = await tx
    .select({ id })
    .from(apiKeySecrets)
    .where(and(eq(id, secret.id), or(isNull(expiresAt), gt(expiresAt, sql`now()`))));
  return rows.length > 0;
});

const reissueToken = sequentially(
  (tx, { services, input, prepared: { key } }: Exchange & { prepared: PreparedExchange }) =>
    issueToken(services, key, input.scope, ({ claims, typ }) =>
      services.keyring.signIn(tx, key.issuerId, claims, typ),
    ),
);

const storeRehash = sequentially(async (tx, { rehash, secret }: CredentialCheck): Promise<void> => {
  if (!rehash || !secret) return;
  await tx.update(apiKeySecrets).set({ hash: rehash }).where(eq(apiKeySecrets.id, secret.id));
});
