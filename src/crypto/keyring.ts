import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { and, eq, gt, inArray, isNotNull, isNull, or, sql, type SQL } from 'drizzle-orm';
import type { PgInsertValue } from 'drizzle-orm/pg-core';
import { LRUCache } from 'lru-cache';
import type { Changes } from '../db/changes.ts';
import { createFreshCache } from '../db/fresh-cache.ts';
import { SYSTEM_NODE } from '../db/nodes.ts';
import type { Ids } from '../kernel/ports.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { signJwt } from './jwt.ts';
import type { Kek } from './kek.ts';
import type { SigningKeyPair } from './rsa.ts';
import { createSignedOnce } from './signed-once.ts';
import { signingKeys, signingKeySecrets } from './signing-keys-table.ts';

/**
 * The keys that sign tokens, one set per issuer: the service itself (sessions) and every project (its API keys
 * and apps). A `kid` leads to one key, and the key alone says which issuer and which kinds of token it may
 * vouch for (bar 4). Private halves are sealed under the KEK and opened only in memory.
 */
export interface VerificationKey {
  readonly publicKey: KeyObject;
  readonly issuer: string;
  /** The project, or the installation's own node. */
  readonly tenantId: string;
  readonly types: readonly string[];
}

export interface Jwk {
  readonly kty: 'RSA';
  readonly use: 'sig';
  readonly alg: 'RS256';
  readonly kid: string;
  readonly n: string;
  readonly e: string;
}

interface ActiveKey {
  readonly kid: string;
  readonly issuer: string;
  readonly privateKey: KeyObject;
}

export interface Keyring {
  /** Null for unknown and revoked keys. */
  verification(kid: string): Promise<VerificationKey | null>;
  /**
   * Signs with the active key of the tenant; `iss` is that key's issuer, whatever the claims say. `seen`: the `kid`
   * that the caller has just read as active; another one that is still in the cache is not used.
   */
  sign(tenantId: string, claims: Readonly<Record<string, unknown>>, seen?: string): Promise<string>;
  /** The same inside a transaction, with the key that is active there. */
  signIn(tx: Executor, tenantId: string, claims: Readonly<Record<string, unknown>>): Promise<string>;
  /** Published keys of a tenant: next, active, and retired ones while their tokens may live. */
  jwks(tenantId: string, db: Executor): Promise<Jwk[]>;
  /** Every key that ever signed for a tenant, but revoked ones: what was signed to last is proven by them for good. */
  jwksOfAll(tenantId: string, db: Executor): Promise<Jwk[]>;
}

export const keysTopic = (tenantId: string): string => `keys:${tenantId}`;

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

  const signedOnce = createSignedOnce(signJwt);
  const signWith = (key: ActiveKey, claims: Readonly<Record<string, unknown>>): Promise<string> =>
    signedOnce(key.privateKey, key.kid, { ...claims, iss: key.issuer });

  async function signIn(db: Executor, tenantId: string, claims: Readonly<Record<string, unknown>>) {
    const active = await loadActive(db, tenantId);
    if (!active) throw new Error(`no active signing key for ${tenantId}`);
    return signWith(active.value, claims);
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
        const types = tenantId === SYSTEM_NODE ? ['session'] : ['ApiKey', 'projectApp'];
        const publicKey = createPublicKey(row.publicKeyPem);
        return { value: { publicKey, issuer, tenantId, types }, topics: [keysTopic(tenantId)] };
      }),

    async sign(tenantId, claims, seen) {
      const key = await signing.get(tenantId, () => loadActive(pool, tenantId));
      if (!key || (seen !== undefined && key.kid !== seen)) return signIn(pool, tenantId, claims);
      return signWith(key, claims);
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
  return rows.map(({ kid, pem }) => ({ kty: 'RSA', use: 'sig', alg: 'RS256', kid, ...numbersOf(pem) }));
}

type Numbers = Pick<Jwk, 'n' | 'e'>;
/** To read a key again for every verifier who asks cost more than all else that the answer takes. */
const numbers = new LRUCache<string, Numbers>({ max: 1000 });

function numbersOf(pem: string): Numbers {
  const known = numbers.get(pem);
  if (known) return known;
  const { n = '', e = '' } = createPublicKey(pem).export({ format: 'jwk' });
  numbers.set(pem, { n, e });
  return { n, e };
}

interface Issuer {
  readonly tenantId: string;
  readonly issuer: string;
}

/** Stores the first keys of an issuer: one that signs at once, and one published ahead of its time. */
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

/** Stores a key pair, the private half sealed. */
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

/** The issuer of a project's tokens, under which its JWKS is found (identity §10). */
export const projectIssuer = (
  appUrl: string,
  owner: { readonly kind: 'account' | 'organization'; readonly id: string },
  projectId: string,
): string => `${appUrl}/${owner.kind === 'account' ? 'acc' : 'org'}/${owner.id}/prj/${projectId}`;
