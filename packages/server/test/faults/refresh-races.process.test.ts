import { sql } from 'drizzle-orm';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { buildService, call, callOrThrow, startService, type Service } from '../../../../scripts/service.ts';
import { openEmbedded, openPostgres } from '../../src/db/connection/open.ts';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';

/**
 * One refresh token is used many times at once, by browser tabs that do not know of each other: at two processes on
 * PostgreSQL, at one on the embedded database. In any order the session has one lineage; and an older token raises the
 * reuse alarm at every process, also at one that has started since.
 */
const adminUrl = inject('postgresUrl');
const ROUNDS = Number(process.env['REFRESH_ROUNDS'] ?? (adminUrl ? 6 : 2));
const AT_ONCE = 50;

let directory: string;
let postgres: TestDatabase | undefined;
let services: Service[] = [];

async function startAll(): Promise<void> {
  const start = (dataDir: string) =>
    startService({
      dataDir,
      env: {
        SECURITY_RATE_LIMIT_ENABLED: 'false',
        AUTH_MAX_SESSIONS_PER_USER: '1000',
        // Ports change with the restart, the issuer must not.
        APP_URL: 'http://doorward.test',
        ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
        ...(postgres ? { DATABASE_URL: postgres.url } : {}),
      },
    });
  // One after the other, because the first one migrates the empty database.
  services = [await start(join(directory, 'one'))];
  if (postgres) services.push(await start(join(directory, 'two')));
}
async function stopAll(): Promise<void> {
  await Promise.all(services.map((service) => service.stop()));
  services = [];
}
const at = (turn: number): Service => services[turn % services.length] as Service;

beforeAll(async () => {
  await buildService();
  directory = await mkdtemp(join(tmpdir(), 'doorward-refresh-'));
  if (adminUrl) postgres = await postgresDatabase(adminUrl, null);
  await startAll();
});
afterAll(async () => {
  await stopAll();
  await postgres?.drop();
  await rm(directory, { recursive: true, force: true });
});

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}
/** Null for a 401; anything else that is not a success fails the test. */
async function refresh({ accessToken, refreshToken }: Tokens, turn: number): Promise<Tokens | null> {
  // Adjacent requests go to different processes, and every second one of a process uses GraphQL.
  const { base } = at(turn);
  const body = { accessToken, refreshToken };
  if (Math.floor(turn / services.length) % 2 === 0) {
    const { status, data, text } = await call<Tokens>(`${base}/api/auth/refresh`, { body });
    expect([200, 401], text).toContain(status);
    return status === 200 ? data : null;
  }
  const query =
    'mutation Refresh($input: RefreshSessionInput) { refreshSession(input: $input) { accessToken refreshToken } }';
  const { data, text } = await call<{ refreshSession: Tokens } | null>(`${base}/graphql`, {
    body: { query, variables: { input: body } },
  });
  if (data === null) expect(text).toContain('"code":"UNAUTHENTICATED"');
  return data?.refreshSession ?? null;
}
const allAtOnce = (tokens: Tokens): Promise<(Tokens | null)[]> =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, turn) => refresh(tokens, turn)));

/** The common response of all, if it was the same. */
async function onlySuccessor(tokens: Tokens): Promise<Tokens> {
  const answers = await allAtOnce(tokens);
  expect(new Set(answers.map((answer) => answer?.refreshToken)).size).toBe(1);
  expect(answers[0]?.refreshToken).toMatch(/^dwr_/);
  expect(answers[0]?.refreshToken).not.toBe(tokens.refreshToken);
  return answers[0] as Tokens;
}
const statusOfMe = async ({ accessToken: token }: Tokens, turn: number) =>
  (await call(`${at(turn).base}/api/me`, { token })).status;

const sessionIdOf = ({ accessToken }: Tokens): string =>
  (JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString()) as { jti: string }).jti;

const openTables = () =>
  postgres
    ? Promise.resolve(
        openPostgres({
          url: postgres.url,
          poolMax: 1,
          acquireTimeoutMs: 5000,
          maxWaitMs: 5000,
          statementTimeoutMs: 30_000,
          onIdleError: () => undefined,
        }),
      )
    : openEmbedded(join(directory, 'one'));

test(
  `${AT_ONCE} refreshes of one token at once are one lineage, ${ROUNDS} times; an older token ends it`,
  { timeout: 180_000 + ROUNDS * 30_000 },
  async () => {
    const login = {
      provider: 'email',
      providerId: 'ada@example.test',
      providerData: { password: 'three-lanterns-in-the-harbour' },
    };
    await callOrThrow(`${at(0).base}/api/auth/register`, { body: login });
    const signIn = (turn: number) => callOrThrow<Tokens>(`${at(turn).base}/api/auth/login`, { body: login });
    const ended: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const first = await signIn(round);
      const second = await onlySuccessor(first);
      const third = await onlySuccessor(second);
      expect(await statusOfMe(third, round + 1)).toBe(200);
      // When the oldest token is used many times at once, each request is refused, and the newest token is invalid
      // too.
      expect(await allAtOnce(first)).toEqual(Array(AT_ONCE).fill(null));
      expect(await refresh(third, round + 1)).toBeNull();
      ended.push(sessionIdOf(first));
    }

    const kept = await signIn(0);
    const newest = await onlySuccessor(await onlySuccessor(kept));
    const other = await signIn(1);
    await stopAll();
    await startAll();
    expect(await statusOfMe(newest, 0)).toBe(200);
    expect(await refresh(kept, 0)).toBeNull();
    expect(await refresh(newest, 1)).toBeNull();
    // The alarm ends one family of tokens, not the other sessions of the user.
    expect(await refresh(other, 1)).toMatchObject({ refreshToken: expect.stringMatching(/^dwr_/) as string });
    ended.push(sessionIdOf(kept));

    await stopAll();
    const database = await openTables();
    try {
      const reported = await rowsOf<{ id: string; generation: number; alarms: number }>(
        database.pool,
        sql`select id, generation, (select count(*)::int from events e
            where e.type = 'session.reuse_detected' and e.body->'data'->>'id' = s.id::text) as alarms
          from sessions s where ended_at is not null order by created_at, id`,
      );
      expect(reported.map(({ id }) => id).sort()).toEqual([...ended].sort());
      for (const { generation, alarms } of reported) expect([generation, alarms]).toEqual([2, 1]);
    } finally {
      await database.close();
    }
    const processes = postgres ? 'two processes on PostgreSQL' : 'one process, embedded';
    process.stdout.write(
      `refresh: ${ROUNDS} rounds of ${AT_ONCE} at once, ${processes}: one lineage and one alarm each\n`,
    );
  },
);
