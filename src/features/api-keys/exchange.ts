import { and, eq, gt, isNull, or, sql, type SQL } from 'drizzle-orm';
import { covers } from '../../access/cidrs.ts';
import { USE_NOTED_MS, type KnownKey } from '../../access/known-keys.ts';
import { equalHashes, hashSecret, isDoorwardSecret } from '../../crypto/secrets.ts';
import { deferToCommit } from '../../db/deferred.ts';
import { recordset } from '../../db/recordset.ts';
import { preparedRowsOf } from '../../db/prepared.ts';
import { inTurn, together } from '../../db/shared-commit.ts';
import { fail } from '../../errors.ts';
import type { Call, Services } from '../../kernel/context.ts';
import type { Recording } from '../../kernel/event.ts';
import { refuse, type Refusal } from '../../kernel/reply.ts';
import { canonicalTenant, type ScopeInput } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { apiKeySecrets } from './api-key.ts';
import { peppersOf } from './store.ts';

/**
 * Client credentials → token. Everything that is wrong answers the same 401 (identity §11); what was wrong stands
 * in the audit entry of the key's project, which refused exchanges of a known client id write too. The token is
 * signed before the transaction, and the transaction decides: what was read of the key before, perhaps from memory, is
 * asked again there under a lock, so a key that was revoked meanwhile gives nothing. Exchanges share their commits.
 */
interface Input {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: ScopeInput;
}

interface Exchange {
  readonly input: Input;
  readonly call: Call;
  readonly services: Services;
  readonly tx: Executor;
}

type Fault = 'secret' | 'scope' | 'network' | 'revoked' | 'expired' | 'inactive' | 'overdue';

interface Judged {
  readonly key: KnownKey;
  /** The stored secret that was sent. */
  readonly secret: KnownKey['secrets'][number] | null;
  /** Its hash under the current pepper, if it is kept under a former one. */
  readonly rehash: Buffer | null;
  readonly fault: Fault | null;
}

export interface Candidate extends Judged {
  readonly token: { readonly accessToken: string; readonly expiresIn: number } | null;
}

const denied = () =>
  fail('UNAUTHENTICATED', {
    fix: 'Check clientId, clientSecret and scope; the key must be active and its scope named as it was created.',
  });

/**
 * Before the transaction: finds the key, judges what was sent, and signs the token if it is good.
 * @throws UNAUTHENTICATED for a client id that is none
 */
export async function loadCandidate({ input, call, services }: Exchange): Promise<Candidate> {
  const { limiter, knownKeys, keyring, clock } = services;
  // Only failures count against a caller's network; an exhausted one is refused before anything is compared.
  const guesses = `${input.clientId} ${call.network}`;
  await limiter.consume('auth', guesses, 0);
  const given = peppersOf(services).map((pepper) => hashSecret(pepper, input.clientSecret));
  const remembered = knownKeys.peek(input.clientId);
  let judged = remembered && judge(remembered, input, given, { address: call.address, now: clock.now() });
  if (!judged || judged.fault !== null) {
    // Nobody is refused from memory: another process may have given the key another secret just now.
    const key = await knownKeys.read(input.clientId);
    if (!key) {
      await limiter.consume('auth', guesses);
      throw denied();
    }
    judged = judge(key, input, given, { address: call.address, now: clock.now() });
  }
  const { key, fault } = judged;
  await (fault === null ? limiter.consume('exchange', key.clientId) : limiter.consume('auth', guesses));
  const token =
    fault === null
      ? await issue(services, key, input.scope, (claims) => keyring.sign(key.projectId, claims, key.kid))
      : null;
  return { ...judged, token };
}

interface Moment {
  readonly address: string;
  readonly now: Date;
}

function judge(key: KnownKey, input: Input, given: readonly Buffer[], at: Moment): Judged {
  // Every stored hash is compared under every pepper, whatever comes first, in constant time each.
  const [matched] = key.secrets.flatMap((secret) => {
    const equal = given.map((one) => equalHashes(secret.hash, one));
    return equal.includes(true) ? [{ secret, isCurrent: equal[0] === true }] : [];
  });
  const rehash = matched && !matched.isCurrent ? (given[0] ?? null) : null;
  return { key, secret: matched?.secret ?? null, rehash, fault: faultOf(key, input, !!matched, at) };
}

function faultOf(
  key: KnownKey,
  { clientSecret, scope }: Input,
  isItsSecret: boolean,
  { address, now }: Moment,
): Fault | null {
  if (key.revoked) return 'revoked';
  if (key.expired) return 'expired';
  if (!isItsSecret || !isDoorwardSecret(clientSecret)) return 'secret';
  if (canonicalTenant(scope.tenant) !== canonicalTenant(key.scope.tenant as ScopeInput['tenant']))
    return 'scope';
  if (scope.id !== key.scope.id) return 'scope';
  if (key.allowedCidrs.length > 0 && !covers(key.allowedCidrs, address)) return 'network';
  if (key.overdueFrom && key.overdueFrom <= now) return 'overdue';
  // A project's own key goes on working when its creator has left; a user's key does not.
  if (key.scope.tenant === 'ProjectUser' && !key.userAlive) return 'inactive';
  return null;
}

async function issue(
  { config, clock }: Services,
  key: KnownKey,
  scope: ScopeInput,
  sign: (claims: Readonly<Record<string, unknown>>) => Promise<string>,
) {
  const iat = Math.floor(clock.now().getTime() / 1000);
  const lifetime = config.tokens.accessTokenMinutes * 60;
  const end = key.expiresAt ? Math.floor(key.expiresAt.getTime() / 1000) : Infinity;
  const exp = Math.min(iat + lifetime, end);
  const accessToken = await sign({
    sub: key.userId,
    aud: config.appUrl,
    jti: key.id,
    type: 'ApiKey',
    scope: { tenant: scope.tenant, id: scope.id },
    iat,
    exp,
  });
  return { accessToken, expiresIn: exp - iat };
}

/** In the transaction: a share lock on the key orders this exchange before or after a revoke, never beside it. */
export async function exchange(
  ctx: Exchange & {
    readonly prepared: Candidate;
    record(recording: Recording): void;
    touch(topic: string): void;
    afterCommit(work: () => void): void;
  },
): Promise<{ accessToken: string; expiresIn: number } | Refusal> {
  const { prepared, tx, call } = ctx;
  const { key } = prepared;
  let { fault, token } = prepared;
  if (token) {
    const notesUse = key.useNotedUntil < performance.now();
    const held = await together(tx, hold, { ...prepared, address: call.address, notesUse });
    fault = await faultMeanwhile(tx, prepared.secret, held);
    if (notesUse) ctx.afterCommit(() => void (key.useNotedUntil = performance.now() + USE_NOTED_MS));
    // Nobody could verify what a signing key has signed that was revoked meanwhile.
    if (fault === null && !held?.published) token = await together(tx, signAgain, ctx);
  }
  const metadata = { clientId: key.clientId, scope: key.scope, roleId: key.roleId, expiresAt: key.expiresAt };
  const common = {
    node: { id: key.projectId, scope: key.nodeScope },
    target: { type: 'ApiKey', id: key.id },
    actor: { type: 'apiKey' as const, id: key.id, userId: key.userId, name: key.userName },
  };
  if (fault !== null || !token) {
    ctx.record({ ...common, outcome: 'failed', code: 'UNAUTHENTICATED', metadata: { ...metadata, fault } });
    return refuse(denied());
  }
  // The one moment at which the secret is known, so that a former encryption key can go.
  if (prepared.rehash) {
    await together(tx, keepAnew, prepared);
    ctx.touch(`credential:${key.id}`);
  }
  ctx.record({
    ...common,
    event: 'api_key.exchanged',
    data: { id: key.id, clientId: key.clientId, scope: key.scope, userId: key.userId },
    metadata,
  });
  return token;
}

type Wanted = Candidate & { readonly address: string; readonly notesUse: boolean };

/** What the locked row says. */
interface Held {
  readonly place: number;
  readonly revoked: boolean;
  readonly expired: boolean;
  readonly secretEnded: boolean;
  /** Not rotated since it was read. */
  readonly asRead: boolean;
  readonly published: boolean;
}

/**
 * Share-locks the keys, in one order so that two processes cannot deadlock, and tells what has become of each; none:
 * there is no such key any more. Once a minute the use is written first, so that none shares and then wants to write.
 */
async function hold(
  tx: Executor,
  wanted: readonly Wanted[],
): Promise<readonly (Omit<Held, 'place'> | undefined)[]> {
  const uses = new Map(wanted.flatMap(({ key, address, notesUse }) => (notesUse ? [[key.id, address]] : [])));
  if (uses.size > 0) await deferToCommit(tx, noteUses(tx, uses));
  // From memory a secret is one and the same for all who sent it.
  const distinct = [...new Map(wanted.map((one) => [one.secret, one])).values()];
  const held = await preparedRowsOf<Held>(tx, locking(distinct));
  const found = new Map(held.map((one) => [distinct[one.place]?.secret, one]));
  return wanted.map(({ secret }) => found.get(secret));
}

const noteUses = (tx: Executor, uses: ReadonlyMap<string, string>): Promise<unknown> =>
  tx.execute(sql`
    with used as (select * from ${recordset(
      [...uses].map(([id, address]) => ({ id, address })),
      'one(id uuid, address text)',
    )}),
      due as (select k.id, used.address from api_keys k join used using (id)
        where k.revoked_at is null and k.deleted_at is null and coalesce(k.expires_at > now(), true)
          and coalesce(k.last_used_at < now() - interval '1 minute', true)
        order by k.id for no key update of k)
    update api_keys k set last_used_at = now(), last_used_ip = due.address from due where k.id = due.id`);

/**
 * Written so that each key and secret is found by its id: how many there are beside the few that are asked for is
 * nothing to an exchange. A signing key is locked, so that a rotation which revokes it commits before this is asked or
 * after the exchange.
 */
function locking(wanted: readonly Candidate[]): SQL {
  const asked = wanted.map(({ key, secret }, place) => ({
    place,
    key_id: key.id,
    secret_id: secret?.id,
    rotated_at: key.rotatedAt,
    kid: key.kid,
  }));
  const form = 'one(place int, key_id uuid, secret_id uuid, rotated_at text, kid text)';
  return sql`select asked.place, k.revoked_at is not null or k.deleted_at is not null as "revoked",
      coalesce(k.expires_at <= now(), false) as "expired",
      not coalesce((select coalesce(s.expires_at > now(), true) from api_key_secrets s where s.id = asked.secret_id), false) as "secretEnded",
      k.rotated_at::text is not distinct from asked.rotated_at as "asRead",
      exists (select from signing_keys g where g.kid = asked.kid and g.status <> 'revoked' for share) as "published"
    from (select * from ${recordset(asked, form)} order by key_id) asked
    cross join lateral (select * from api_keys where id = asked.key_id for share) k`;
}

async function faultMeanwhile(
  tx: Executor,
  secret: Candidate['secret'],
  held: Omit<Held, 'place'> | undefined,
): Promise<Fault | null> {
  if (!held || held.revoked) return 'revoked';
  if (held.expired) return 'expired';
  if (held.secretEnded) return 'secret';
  // Rotated since the secret was compared, perhaps while the lock was waited for: it may have been one that ended.
  return held.asRead || (await together(tx, secretLives, secret)) ? null : 'secret';
}

const secretLives = inTurn(async (tx, secret: Candidate['secret']): Promise<boolean> => {
  if (secret === null) return false;
  const { id, expiresAt } = apiKeySecrets;
  const rows = await tx
    .select({ id })
    .from(apiKeySecrets)
    .where(and(eq(id, secret.id), or(isNull(expiresAt), gt(expiresAt, sql`now()`))));
  return rows.length > 0;
});

const signAgain = inTurn((tx, { services, input, prepared: { key } }: Exchange & { prepared: Candidate }) =>
  issue(services, key, input.scope, (claims) => services.keyring.signIn(tx, key.projectId, claims)),
);

const keepAnew = inTurn(async (tx, { rehash, secret }: Candidate): Promise<void> => {
  if (!rehash || !secret) return;
  await tx.update(apiKeySecrets).set({ hash: rehash }).where(eq(apiKeySecrets.id, secret.id));
});
