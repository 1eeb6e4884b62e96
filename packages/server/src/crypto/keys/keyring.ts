import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { and, eq, gt, inArray, isNotNull, isNull, or, sql, type SQL } from 'drizzle-orm';
import type { PgInsertValue } from 'drizzle-orm/pg-core';
import { LRUCache } from 'lru-cache';
import type { Changes } from '../../db/cache/changes.ts';
import { createFreshCache } from '../../db/cache/fresh-cache.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import type { Ids } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { signJwt } from '../tokens/jwt.ts';
import type { Kek } from './kek.ts';
import type { SigningKeyPair } from './rsa.ts';
import { createSignatureCache } from '../tokens/signature-cache.ts';
import { signingKeys, signingKeySecrets } from '../../schema/machines/signing-key.ts';

interface VerificationKey {
  readonly publicKey: KeyObject;
  readonly issuer: string;
  /** The project whose key it is, or the system node. */
  readonly tenantId: string;
  readonly types: readonly string[];
}

interface Jwk {
  readonly kty: 'RSA';
  readonly use: 'sig';
  readonly alg: 'RS256';
  readonly kid: string;
  readonly n: string;
  readonly e: string;
}

type Claims = Readonly<Record<string, unknown>>;
type TokenTyp = 'JWT' | 'at+jwt';

interface ActiveKey {
  readonly kid: string;
  readonly issuer: string;
  readonly privateKey: KeyObject;
}

/**
 * The signing keys of all issuers: the service (tokens of sessions and of keys of organizations and accounts) and each
 * project (tokens of its API keys and apps). A `kid` identifies one key, and the key alone determines the issuer and
 * the token types that it may sign, so that a token can't choose them. Private keys are sealed under the KEK and opened
 * only in memory.
 */
export interface Keyring {
  /** Returns the public key for a `kid`; null for unknown and revoked keys. */
  verification(kid: string): Promise<VerificationKey | null>;
  /**
   * Signs with the active key of the tenant. `iss` is always the key's issuer, even if the claims contain another.
   * `kid`: the key that the caller has just read as active; a different cached key is not used. `typ`: default `JWT`.
   */
  sign(
    tenantId: string,
    claims: Claims,
    options?: { readonly kid?: string; readonly typ?: TokenTyp },
  ): Promise<string>;
  /**
   * Signs a document of this type with the active key of the tenant. A document is not a credential. `iss` is as in
   * `sign`.
   */
  signDocument(tenantId: string, typ: string, claims: object): Promise<string>;
  /** Signs inside a transaction, with the key that is active in it. */
  signIn(tx: Executor, tenantId: string, claims: Claims, typ?: TokenTyp): Promise<string>;
  /** Published keys of a tenant: next, active, and retired keys whose tokens may still be valid. */
  jwks(tenantId: string, db: Executor): Promise<Jwk[]>;
  /** Every key that ever signed for a tenant, except revoked ones. They verify long-lived signatures (checkpoints). */
  jwksOfAll(tenantId: string, db: Executor): Promise<Jwk[]>;
}

const noActiveKey = (tenantId: string) => new Error(`no active signing key for ${tenantId}`);

/** The topic that is invalidated when the keys of an issuer change. */
export const keysTopic = (tenantId: string): string => `keys:${tenantId}`;

/** Creates a keyring, which caches keys until they change. */
export function createKeyring(options: {
  readonly pool: Executor;
  readonly kek: Kek;
  readonly changes: Changes;
}): Keyring {
  const { pool, kek, changes } = options;
  const verifying = createFreshCache<VerificationKey>(changes, 10_000);
  const signing = createFreshCache<ActiveKey>(changes, 1_000);

  async function loadActive(db: Executor, tenantId: string) {
    const [row] = await db
      .select({
        id: signingKeys.id,
        kid: signingKeys.kid,
        issuer: signingKeys.issuer,
        sealed: signingKeySecrets.sealed,
      })
      .from(signingKeys)
      .innerJoin(signingKeySecrets, eq(signingKeySecrets.keyId, signingKeys.id))
      .where(and(eq(signingKeys.tenantId, tenantId), eq(signingKeys.status, 'active')));
    if (!row) return null;
    const { id, kid, issuer, sealed } = row;
    const privateKey = createPrivateKey(kek.open(sealed, sealedAs(id)).toString());
    return { value: { kid, issuer, privateKey }, topics: [keysTopic(tenantId)] };
  }

  const signCached = createSignatureCache(signJwt);
  const signWith = (key: ActiveKey, claims: Claims, typ: TokenTyp = 'JWT'): Promise<string> =>
    signCached(key.privateKey, key.kid, { ...claims, iss: key.issuer }, typ);

  async function signIn(db: Executor, tenantId: string, claims: Claims, typ?: TokenTyp) {
    const active = await loadActive(db, tenantId);
    if (!active) throw noActiveKey(tenantId);
    return signWith(active.value, claims, typ);
  }

  return {
    verification: (kid) =>
      verifying.get(kid, async () => {
        const [row] = await pool
          .select()
          .from(signingKeys)
          .where(and(eq(signingKeys.kid, kid), inArray(signingKeys.status, ['next', 'active', 'retired'])));
        if (!row) return null;
        const { tenantId, issuer } = row;
        const types = tenantId === SYSTEM_NODE ? ['session', 'ApiKey'] : ['ApiKey', 'projectApp'];
        const publicKey = createPublicKey(row.publicKeyPem);
        return { value: { publicKey, issuer, tenantId, types }, topics: [keysTopic(tenantId)] };
      }),

    async sign(tenantId, claims, { kid, typ } = {}) {
      const key = await signing.get(tenantId, () => loadActive(pool, tenantId));
      if (!key || (kid !== undefined && key.kid !== kid)) return signIn(pool, tenantId, claims, typ);
      return signWith(key, claims, typ);
    },

    async signDocument(tenantId, typ, claims) {
      const key = await signing.get(tenantId, () => loadActive(pool, tenantId));
      if (!key) throw noActiveKey(tenantId);
      // Bypasses the signature cache, because a document is large and is signed only once.
      return signJwt(key.privateKey, key.kid, { ...claims, iss: key.issuer }, typ);
    },

    signIn,

    jwks(tenantId, db) {
      const { publishedUntil } = signingKeys;
      return jwksWhere(db, tenantId, or(isNull(publishedUntil), gt(publishedUntil, sql`now()`)));
    },

    jwksOfAll: (tenantId, db) => jwksWhere(db, tenantId, isNotNull(signingKeys.activatedAt)),
  };
}

async function jwksWhere(db: Executor, tenantId: string, filter: SQL | undefined): Promise<Jwk[]> {
  const rows = await db
    .select({ kid: signingKeys.kid, pem: signingKeys.publicKeyPem })
    .from(signingKeys)
    .where(
      and(
        eq(signingKeys.tenantId, tenantId),
        inArray(signingKeys.status, ['next', 'active', 'retired']),
        filter,
      ),
    )
    .orderBy(signingKeys.createdAt, signingKeys.id);
  return rows.map(({ kid, pem }) => ({ kty: 'RSA', use: 'sig', alg: 'RS256', kid, ...rsaParametersOf(pem) }));
}

type RsaParameters = Pick<Jwk, 'n' | 'e'>;
/** Cached, because parsing the PEM would take most of the time of a JWKS response. */
const rsaParameters = new LRUCache<string, RsaParameters>({ max: 1000 });

function rsaParametersOf(pem: string): RsaParameters {
  const cached = rsaParameters.get(pem);
  if (cached) return cached;
  const { n = '', e = '' } = createPublicKey(pem).export({ format: 'jwk' });
  rsaParameters.set(pem, { n, e });
  return { n, e };
}

interface Issuer {
  readonly tenantId: string;
  readonly issuer: string;
}

/**
 * Stores the first two keys of an issuer: one signs immediately, the other is published ahead for the next rotation.
 */
export async function establishKeys(
  tx: Executor,
  services: { readonly kek: Kek; readonly ids: Ids },
  owner: Issuer,
  [first, second]: readonly SigningKeyPair[],
): Promise<void> {
  if (!first || !second) throw new Error('an issuer begins with two keys');
  await storeKey(tx, services, owner, first, { status: 'active', activatedAt: sql`now()` });
  await storeKey(tx, services, owner, second, { status: 'next' });
}

/** Stores a key pair with its private key sealed. */
export async function storeKey(
  tx: Executor,
  { kek, ids }: { readonly kek: Kek; readonly ids: Ids },
  owner: Issuer,
  { kid, publicKeyPem, privateKeyPem }: SigningKeyPair,
  state: Pick<PgInsertValue<typeof signingKeys>, 'status' | 'activatedAt'>,
): Promise<void> {
  const id = ids.next();
  await tx.insert(signingKeys).values({ id, ...owner, kid, publicKeyPem, ...state });
  await tx.insert(signingKeySecrets).values({ keyId: id, sealed: kek.seal(privateKeyPem, sealedAs(id)) });
}

const sealedAs = (id: string): string => `signing_key_secrets:${id}`;

/** The issuer of a project's tokens, which is also the base URL of its JWKS (identity §10). */
export const projectIssuer = (
  appUrl: string,
  owner: { readonly kind: 'account' | 'organization'; readonly id: string },
  projectId: string,
): string => `${appUrl}/${owner.kind === 'account' ? 'acc' : 'org'}/${owner.id}/prj/${projectId}`;
