import { sql } from 'drizzle-orm';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { call, callOrThrow, signUp, type Service } from '../../../../scripts/service.ts';
import type { Database } from '../../src/db/connection/open.ts';
import { rowsOf } from '../../src/db/statements/rows.ts';
import type { SilentPostgres } from '../support/databases/silent-postgres.ts';
import { figures, startTwoServices, type TwoServices } from '../support/app/two-services.ts';

/**
 * Keys that end on one process while another uses them: two real processes on one PostgreSQL. The audit log of the
 * project, whose sequence is the order of commits, decides what counts as after. How long the other process trusts a
 * cached token is measured and printed; no measured time decides whether a test passes.
 */
const adminUrl = inject('postgresUrl');
const ROUNDS = Number(process.env['KEY_RACES'] ?? 24);
/** Each creates a pair of RSA keys. */
const KEY_PAIR_ROUNDS = Number(process.env['KEY_RACES'] ?? 8);
const CUTS = Math.ceil(ROUNDS / 30);
const AT_ONCE = 4;
const PATIENCE_MS = 10_000;

interface Pair {
  readonly id: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: object;
}
interface Minted {
  /** Null: refused with 401. */
  readonly token: string | null;
  readonly requestId: string;
}

async function until(what: () => Promise<boolean>): Promise<void> {
  for (const began = performance.now(); !(await what());) {
    if (performance.now() - began > PATIENCE_MS) throw new Error('what is waited for does not come');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
const print = (line: string) => process.stdout.write(`key races: ${line}\n`);

describe.runIf(adminUrl)('two processes on one database', { timeout: 60_000 + ROUNDS * 2000 }, () => {
  let two: TwoServices;
  let link: SilentPostgres;
  let here: Service;
  let there: Service;
  let database: Database;
  let session: string;
  let accountId: string;
  let projectId: string;
  let scope: { tenant: string; id: string };

  beforeAll(async () => {
    two = await startTwoServices(adminUrl);
    ({ here, there, link, database } = two);
    const ada = await signUp(here);
    session = ada.token;
    accountId = ada.accountId;
    const account = { tenant: 'account', id: accountId };
    ({ id: projectId } = await callOrThrow(`${here.base}/api/projects`, {
      token: session,
      body: { scope: account, name: 'Races' },
    }));
    scope = { tenant: 'accountProject', id: `${accountId}:${projectId}` };
  });
  afterAll(() => two.stop());

  const act = <D = Pair>(path: string, body: object = {}) =>
    callOrThrow<D>(`${here.base}/api${path}`, { token: session, body: { scope, ...body } });
  const newKey = () => act('/api-keys');
  const revoke = (key: Pair) => act(`/api-keys/${key.id}/revoke`);
  const use = async (service: Service, token: string) =>
    (await call(`${service.base}/api/tags?tenant=${scope.tenant}&scopeId=${scope.id}`, { token })).status;

  /** Every second call uses GraphQL. Anything but a token or a 401 fails the test. */
  async function exchange(service: Service, pair: Pair, turn: number): Promise<Minted> {
    const { clientId, clientSecret } = pair;
    const input = { clientId, clientSecret, scope: pair.scope };
    const rest = turn % 2 === 0;
    const query =
      'mutation Exchange($input: ExchangeApiKeyInput!) { exchangeApiKey(input: $input) { accessToken } }';
    const response = await fetch(`${service.base}${rest ? '/api/auth/token' : '/graphql'}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(rest ? input : { query, variables: { input } }),
    });
    const text = await response.text();
    const { data } = JSON.parse(text) as {
      data?: { accessToken?: string; exchangeApiKey?: { accessToken: string } } | null;
    };
    const token = data?.accessToken ?? data?.exchangeApiKey?.accessToken ?? null;
    if (token === null) expect(text).toContain('"code":"UNAUTHENTICATED"');
    return { token, requestId: response.headers.get('x-request-id') ?? '' };
  }

  const severalOf = (pair: Pair): Promise<Minted[]> =>
    Promise.all(
      Array.from({ length: AT_ONCE }, (_, turn) => exchange(turn === 0 ? here : there, pair, turn)),
    );

  /** Uses the token at the other process until it is refused; returns after how long. */
  async function untilRefused(token: string, began: number): Promise<number> {
    for (;;) {
      const status = await use(there, token);
      const waited = performance.now() - began;
      if (status === 401) return waited;
      expect(status).toBe(200);
      if (waited > PATIENCE_MS)
        throw new Error('the other process goes on believing a token of a revoked key');
    }
  }

  interface Entry {
    requestId: string;
    sequence: number;
    operation: string;
    metadata: { kid?: string; oldRevoked?: boolean };
  }
  /** Successful operations in the project, in the order of commits. */
  const entries = () =>
    rowsOf<Entry>(
      database.pool,
      sql`select request_id as "requestId", sequence::int as sequence, operation, metadata from audit_log
          where tenant_id = ${projectId} and outcome = 'success' order by sequence`,
    );

  it('exchange nothing for a revoked key, and soon refuse its tokens', async () => {
    const waits: number[] = [];
    let exchanges = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const key = await newKey();
      const { token } = await exchange(there, key, round);
      expect(await use(there, token as string)).toBe(200);
      await revoke(key);
      const revoked = performance.now();
      const [waited, ...after] = await Promise.all([
        untilRefused(token as string, revoked),
        exchange(there, key, round),
        exchange(there, key, round + 1),
      ]);
      waits.push(waited);
      for (const minted of after) {
        expect(minted.token).toBeNull();
        exchanges += 1;
      }
      expect(await use(here, token as string)).toBe(401);
    }
    print(
      `${exchanges} exchanges after a revocation elsewhere, 0 succeeded; tokens refused: ${figures(waits)}`,
    );
  });

  it('issue no token after the commit of a revocation', async () => {
    const minted: { requestId: string; key: string }[] = [];
    const revocations: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const key = await newKey();
      const [, ...answers] = await Promise.all([revoke(key), severalOf(key)]);
      revocations.push(key.id);
      for (const { token, requestId } of answers.flat()) {
        if (token === null) continue;
        minted.push({ requestId, key: key.id });
        await untilRefused(token, performance.now());
      }
    }
    const late = await rowsOf<{ id: string }>(
      database.pool,
      sql`select e.target->>'id' as id from audit_log e join audit_log r on r.tenant_id = e.tenant_id
            and r.operation = 'revokeApiKey' and r.target->>'id' = e.target->>'id' and r.sequence < e.sequence
          where e.tenant_id = ${projectId} and e.operation = 'exchangeApiKey' and e.outcome = 'success'`,
    );
    expect(late).toEqual([]);
    const recorded = new Set((await entries()).map(({ requestId }) => requestId));
    expect(minted.filter(({ requestId }) => !recorded.has(requestId))).toEqual([]);
    print(
      `${ROUNDS} revocations beside ${ROUNDS * AT_ONCE} exchanges: ${minted.length} came before, 0 after`,
    );
  });

  it('accept no secret that a rotation ended', async () => {
    const key = await newKey();
    let current = key;
    const won: { requestId: string; after: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const [next, beside] = await Promise.all([
        act(`/api-keys/${key.id}/rotate`, { graceSeconds: 0 }),
        severalOf(current),
      ]);
      for (const { token, requestId } of beside) if (token !== null) won.push({ requestId, after: round });
      expect((await exchange(there, current, round)).token).toBeNull();
      current = { ...key, clientSecret: next.clientSecret };
      expect((await exchange(there, current, round)).token).not.toBeNull();
    }
    // The exchanges with the old secret come before the rotation that ended it.
    const inOrder = await entries();
    const ends = inOrder
      .filter(({ operation }) => operation === 'rotateApiKey')
      .map(({ sequence }) => sequence);
    const sequenceOf = new Map(inOrder.map(({ requestId, sequence }) => [requestId, sequence]));
    expect(ends).toHaveLength(ROUNDS);
    for (const { requestId, after } of won)
      expect(sequenceOf.get(requestId)).toBeLessThan(ends[after] as number);
    print(
      `${ROUNDS} rotations of a secret beside ${ROUNDS * AT_ONCE} exchanges: ${won.length} came before, 0 after`,
    );
  });

  it('sign nothing with a key that was unpublished', async () => {
    const key = await newKey();
    const jwks = async (service: Service): Promise<JSONWebKeySet> =>
      (await (
        await fetch(`${service.base}/acc/${accountId}/prj/${projectId}/.well-known/jwks.json`)
      ).json()) as JSONWebKeySet;
    const first = (await exchange(here, key, 0)).token as string;
    const minted: { token: string; requestId: string }[] = [];
    const mint = async (...answers: Promise<Minted | Minted[]>[]) => {
      for (const { token, requestId } of (await Promise.all(answers)).flat()) {
        minted.push({ token: token as string, requestId });
      }
    };
    for (let round = 0; round < KEY_PAIR_ROUNDS; round++) {
      const revokeOld = round % 3 === 2;
      const before = minted.length;
      await Promise.all([act('/signing-keys/rotate', { revokeOld }), mint(severalOf(key))]);
      // Without a revocation, tokens issued during the rotation are valid too.
      const from = revokeOld ? minted.length : before;
      await mint(exchange(there, key, round), exchange(there, key, round + 1), exchange(here, key, round));
      const published = createLocalJWKSet(await jwks(there));
      for (const { token } of minted.slice(from)) await jwtVerify(token, published);
      expect(await use(there, minted.at(-1)?.token as string)).toBe(200);
    }
    // In the order of commits: no token has a `kid` that an earlier rotation removed.
    const kidOf = (token: string) => decodeProtectedHeader(token).kid ?? '';
    const kids = new Map(minted.map(({ token, requestId }) => [requestId, kidOf(token)]));
    let alive = new Set([kidOf(first)]);
    const dead: string[] = [];
    let seen = 0;
    for (const { operation, requestId, metadata } of await entries()) {
      if (operation === 'rotateSigningKey') {
        if (metadata.oldRevoked === true) alive = new Set();
        alive.add(metadata.kid ?? '');
      }
      const kid = kids.get(requestId);
      if (operation !== 'exchangeApiKey' || kid === undefined) continue;
      seen += 1;
      if (!alive.has(kid)) dead.push(kid);
    }
    expect(seen).toBe(minted.length);
    expect(dead).toHaveLength(0);
    print(
      `${KEY_PAIR_ROUNDS} rotations of signing keys beside ${minted.length} exchanges: 0 with an unpublished kid`,
    );
  });

  it.each([
    ['is closed again and again', false],
    ['falls silent without being closed', true],
  ])('do not trust a cache for long when the change channel %s', async (_, silent) => {
    const waits: number[] = [];
    for (let round = 0; round < CUTS; round++) {
      const key = await newKey();
      const { token } = await exchange(there, key, round);
      expect(await use(there, token as string)).toBe(200);
      const close = () =>
        database.pool.execute(
          sql`select pg_terminate_backend(pid) from pg_stat_activity
              where application_name = 'doorward changes' and datname = current_database()`,
        );
      if (silent) link.silence();
      else await close();
      const cut = performance.now();
      await revoke(key);
      if (!silent) await close();
      waits.push(await untilRefused(token as string, cut));
      expect((await exchange(there, key, round)).token).toBeNull();
      // A connection that was opened during the silence and gets no answer is replaced by another one too.
      await until(() => Promise.resolve(!silent || link.tried() > 0));
      link.heal();
      await until(async () => (await fetch(`${there.base}/health/ready`)).status === 200);
    }
    print(
      `${CUTS} cuts of the change channel (${silent ? 'silent' : 'closed'}), tokens refused: ${figures(waits)}`,
    );
  });
});
