import { and, eq, gt, isNull, or, sql } from 'drizzle-orm';
import { rowsOf } from '../../db/rows.ts';
import { equalHashes, hashApiKeySecret, isDoorwardSecret } from '../../crypto/secrets.ts';
import { fail } from '../../errors.ts';
import type { Call, Services } from '../../kernel/context.ts';
import type { Recording } from '../../kernel/event.ts';
import { refuse, type Refusal } from '../../kernel/reply.ts';
import { canonicalTenant, type ScopeInput, type ScopeRef } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { covers } from '../../access/cidrs.ts';
import { apiKeys, apiKeySecrets } from './api-key.ts';
import { isActive, peppersOf } from './store.ts';

/**
 * Client credentials → token. Everything that is wrong answers the same 401 (identity §11); what was wrong stands
 * in the audit entry of the key's project, which refused exchanges of a known client id write too. The token is
 * signed before the transaction, and the transaction decides: a key that was revoked meanwhile gives nothing.
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

type Fault = 'secret' | 'scope' | 'network' | 'revoked' | 'expired' | 'inactive';

export interface Candidate {
  readonly key: {
    readonly id: string;
    readonly clientId: string;
    readonly projectId: string;
    readonly nodeScope: ScopeRef;
    readonly scope: { readonly tenant: string; readonly id: string };
    readonly roleId: string | null;
    readonly userId: string;
    readonly userName: string;
    readonly expiresAt: Date | null;
    /** As the database writes it, to be compared with itself. */
    readonly rotatedAt: string | null;
  };
  /** The stored secret that was sent. */
  readonly secretId: string | null;
  /** Its hash under the current pepper, if it is kept under a former one. */
  readonly rehash: Buffer | null;
  /** The key that signs the project's tokens. */
  readonly kid: string;
  readonly fault: Fault | null;
  /** Whether the last use was written down less than a minute ago. */
  readonly useIsNoted: boolean;
  readonly token: { readonly accessToken: string; readonly expiresIn: number } | null;
}

interface KeyRow {
  id: string;
  project_id: string;
  owner_id: string;
  owner_kind: 'account' | 'organization';
  scope_tenant: string;
  scope_id: string;
  role_id: string | null;
  user_id: string;
  user_name: string;
  user_alive: boolean;
  expires_at: string | null;
  expired: boolean;
  revoked: boolean;
  allowed_cidrs: string[];
  use_is_noted: boolean;
  rotated_at: string | null;
  kid: string;
  secrets: { id: string; hash: string }[] | null;
}

async function findKey(db: Executor, clientId: string): Promise<KeyRow | undefined> {
  const rows = await rowsOf<KeyRow>(
    db,
    sql`
    select k.id, k.tenant_id as project_id, o.id as owner_id, o.kind as owner_kind, k.scope_tenant, k.scope_id, k.role_id,
      k.user_id, u.name as user_name, u.status = 'active' and u.deleted_at is null as user_alive,
      k.expires_at, coalesce(k.expires_at <= now(), false) as expired, k.revoked_at is not null as revoked, k.allowed_cidrs,
      coalesce(k.last_used_at > now() - interval '1 minute', false) as use_is_noted,
      k.rotated_at::text as rotated_at,
      (select json_agg(json_build_object('id', s.id, 'hash', encode(s.hash, 'hex'))) from api_key_secrets s
        where s.key_id = k.id and (s.expires_at is null or s.expires_at > now())) as secrets,
      (select sk.kid from signing_keys sk where sk.tenant_id = k.tenant_id and sk.status = 'active') as kid
    from api_keys k join nodes n on n.id = k.tenant_id and n.deleted_at is null
    join nodes o on o.id = n.parent_id and o.deleted_at is null
    join users u on u.id = k.user_id
    where k.client_id = ${clientId}::uuid and k.deleted_at is null`,
  );
  return rows[0];
}

/** Before the transaction: finds the key, judges what was sent, and signs the token if it is good. */
export async function loadCandidate({ input, call, services, tx }: Exchange): Promise<Candidate | null> {
  // Only failures count against a caller's network; an exhausted one is refused before anything is compared.
  const guesses = `${input.clientId} ${call.network}`;
  await services.limiter.consume('auth', guesses, 0);
  const given = peppersOf(services).map((pepper) => hashApiKeySecret(pepper, input.clientSecret));
  const row = await findKey(tx, input.clientId);
  if (!row) {
    await services.limiter.consume('auth', guesses);
    return null;
  }
  const expiresAt = row.expires_at === null ? null : new Date(row.expires_at);
  const key: Candidate['key'] = {
    id: row.id,
    clientId: input.clientId,
    projectId: row.project_id,
    nodeScope: { tenant: `${row.owner_kind}Project`, id: `${row.owner_id}:${row.project_id}` },
    scope: { tenant: row.scope_tenant, id: row.scope_id },
    roleId: row.role_id,
    userId: row.user_id,
    userName: row.user_name,
    expiresAt,
    rotatedAt: row.rotated_at,
  };
  const matched = matching(row, given);
  const secretId = matched?.id ?? null;
  const rehash = matched && !matched.isCurrent ? (given[0] ?? null) : null;
  const fault = faultOf(row, input, secretId, call.address);
  await (fault === null
    ? services.limiter.consume('exchange', key.clientId)
    : services.limiter.consume('auth', guesses));
  const { kid, use_is_noted: useIsNoted } = row;
  const token =
    fault === null
      ? await issue(services, key, input.scope, (claims) => services.keyring.sign(key.projectId, claims, kid))
      : null;
  return { key, secretId, rehash, kid, fault, useIsNoted, token };
}

/** Every stored hash is compared under every pepper, whatever comes first, in constant time each. */
function matching(
  { secrets }: KeyRow,
  given: readonly Buffer[],
): { id: string; isCurrent: boolean } | undefined {
  const found = (secrets ?? []).flatMap(({ id, hash }) => {
    const equal = given.map((one) => equalHashes(Buffer.from(hash, 'hex'), one));
    return equal.includes(true) ? [{ id, isCurrent: equal[0] === true }] : [];
  });
  return found[0];
}

function faultOf(
  row: KeyRow,
  { clientSecret, scope }: Input,
  secretId: string | null,
  address: string,
): Fault | null {
  if (row.revoked) return 'revoked';
  if (row.expired) return 'expired';
  if (secretId === null || !isDoorwardSecret(clientSecret)) return 'secret';
  if (canonicalTenant(scope.tenant) !== canonicalTenant(row.scope_tenant as ScopeInput['tenant']))
    return 'scope';
  if (scope.id !== row.scope_id) return 'scope';
  if (row.allowed_cidrs.length > 0 && !covers(row.allowed_cidrs, address)) return 'network';
  // A project's own key goes on working when its creator has left; a user's key does not.
  if (row.scope_tenant === 'ProjectUser' && !row.user_alive) return 'inactive';
  return null;
}

async function issue(
  { config, clock }: Services,
  key: Candidate['key'],
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
  ctx: Exchange & { readonly prepared: Candidate | null; record(recording: Recording): void },
): Promise<{ accessToken: string; expiresIn: number } | Refusal> {
  const { prepared, tx, call } = ctx;
  const denied = fail('UNAUTHENTICATED', {
    fix: 'Check clientId, clientSecret and scope; the key must be active and its scope named as it was created.',
  });
  if (!prepared) throw denied;
  const { key } = prepared;
  let { fault, token } = prepared;
  if (token) {
    const held = await holdAlive(tx, prepared, call.address);
    if (!held) fault = 'revoked';
    // Rotated since the secret was compared: it may have been one that ended.
    else if (held.rotatedAt !== key.rotatedAt && !(await secretLives(tx, prepared))) fault = 'secret';
    // Nobody could verify what a signing key has signed that was revoked meanwhile.
    else if (!held.published) {
      const { keyring } = ctx.services;
      token = await issue(ctx.services, key, ctx.input.scope, (claims) =>
        keyring.signIn(tx, key.projectId, claims),
      );
    }
  }
  const metadata = { clientId: key.clientId, scope: key.scope, roleId: key.roleId, expiresAt: key.expiresAt };
  const common = {
    node: { id: key.projectId, scope: key.nodeScope },
    target: { type: 'ApiKey', id: key.id },
    actor: { type: 'apiKey' as const, id: key.id, userId: key.userId, name: key.userName },
  };
  if (fault !== null || !token) {
    ctx.record({ ...common, outcome: 'failed', code: 'UNAUTHENTICATED', metadata: { ...metadata, fault } });
    return refuse(denied);
  }
  // The one moment at which the secret is known, so that a former encryption key can go.
  if (prepared.rehash && prepared.secretId) {
    const isIt = eq(apiKeySecrets.id, prepared.secretId);
    await tx.update(apiKeySecrets).set({ hash: prepared.rehash }).where(isIt);
  }
  ctx.record({
    ...common,
    event: 'api_key.exchanged',
    data: { id: key.id, clientId: key.clientId, scope: key.scope, userId: key.userId },
    metadata,
  });
  return token;
}

/**
 * Share-locks the key if it is still good. Once a minute the lock is the update of its last use instead, so that a
 * busy key is not one hot row, and two exchanges never both share and then both want to write.
 */
async function holdAlive(tx: Executor, { key, kid, useIsNoted }: Candidate, address: string) {
  const seen = {
    rotatedAt: sql<string | null>`${apiKeys.rotatedAt}::text`,
    // Locked, so that a rotation which revokes it commits before this is asked or after this exchange.
    published: sql<boolean>`exists (select 1 from signing_keys where kid = ${kid} and status <> 'revoked' for share)`,
  };
  const alive = isActive(key.id);
  const [held] = useIsNoted
    ? await tx.select(seen).from(apiKeys).where(alive).for('share')
    : await tx
        .update(apiKeys)
        .set({ lastUsedAt: sql`now()`, lastUsedIp: address })
        .where(alive)
        .returning(seen);
  return held;
}

async function secretLives(tx: Executor, { secretId }: Candidate): Promise<boolean> {
  if (secretId === null) return false;
  const { id, expiresAt } = apiKeySecrets;
  const rows = await tx
    .select({ id })
    .from(apiKeySecrets)
    .where(and(eq(id, secretId), or(isNull(expiresAt), gt(expiresAt, sql`now()`))));
  return rows.length > 0;
}
