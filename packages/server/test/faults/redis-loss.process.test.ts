import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { freePort } from '../../../../scripts/service.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import type { Person } from '../support/app/client.ts';

/**
 * Redis stops, loses its data, or stops answering: guesses at secrets stay limited, everything else works, nothing
 * becomes allowed, and there is no 500.
 */
const program = '/usr/bin/redis-server';
const PATIENCE_MS = 20_000;

describe.runIf(inject('postgresUrl') && existsSync(program))('without a Redis that answers', () => {
  let folder: string;
  let port: number;
  let redis: ChildProcess;
  let app: TestApp;
  let ada: Person;
  let eve: Person;

  const listens = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
  const begin = async (): Promise<void> => {
    const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
    redis = spawn(program, settings, { stdio: 'ignore' });
    await until(listens);
  };
  const end = async (): Promise<void> => {
    redis.kill('SIGCONT');
    redis.kill('SIGKILL');
    await once(redis, 'exit');
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'doorward-redis-'));
    port = await freePort();
    await begin();
    app = await startApp({
      REDIS_URL: `redis://127.0.0.1:${port}`,
      SECURITY_RATE_LIMIT_AUTH_MAX: '5',
      AUTH_LOCKOUT_MAX_FAILURES: '100',
    });
    ada = await app.person();
    eve = await app.person();
  });
  afterAll(async () => {
    await app.close();
    await end();
    await rm(folder, { recursive: true, force: true });
  });

  async function until(what: () => Promise<boolean>): Promise<void> {
    const began = performance.now();
    while (!(await what())) {
      if (performance.now() - began > PATIENCE_MS) throw new Error('it never came to that');
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  const guess = (email: string) =>
    app.raw('login', {
      provider: 'email',
      providerId: email,
      providerData: { password: 'not his password' },
    });
  const own = () => app.call('tags', { scope: ada.account }, { token: ada.token });
  const foreign = () => app.call('tags', { scope: ada.account }, { token: eve.token });
  const requested = async () => {
    const permission = { resource: 'Tag', action: 'Query' };
    const { data } = await app.call('isAuthorized', { permission, scope: ada.account }, { token: eve.token });
    return data.authorized;
  };

  /** What must hold whatever Redis does. */
  async function goesOn(): Promise<void> {
    expect((await own()).status).toBe(200);
    expect((await foreign()).status).toBe(403);
    expect(await requested()).toBe(false);
    expect((await app.server.inject('/health/live')).statusCode).toBe(200);
    expect((await app.server.inject('/health/ready')).statusCode).toBe(200);
    const written = { scope: ada.account, name: `tag ${performance.now()}` };
    expect((await app.call('createTag', written, { token: ada.token })).status).toBe(201);
  }

  const guesses = async (email: string, count: number) => {
    const codes = [];
    for (let at = 0; at < count; at++) codes.push((await guess(email)).code);
    return codes;
  };

  test('it counts while it is available', async () => {
    await goesOn();
    const codes = await guesses(ada.email, 7);
    expect(codes.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'UNAUTHENTICATED'));
    expect(codes.slice(5)).toEqual(['RATE_LIMITED', 'RATE_LIMITED']);
  });

  test.each([
    ['is killed', end, begin],
    [
      'falls silent',
      async (): Promise<void> => void redis.kill('SIGSTOP'),
      async (): Promise<void> => void redis.kill('SIGCONT'),
    ],
  ] as const)('it %s', async (_, breaks, mends) => {
    await breaks();
    await goesOn();
    // A guess that cannot be counted is refused; if it was counted before the failure, the result is the same.
    const codes = await guesses(eve.email, 3);
    expect(new Set(codes)).toEqual(new Set(['UNAVAILABLE']));
    await mends();
    await until(async () => (await guess(`${Math.random()}@example.test`)).code === 'UNAUTHENTICATED');
    await goesOn();
  });

  test('it loses its data', async () => {
    const { email } = await app.person();
    expect((await guesses(email, 6)).at(-1)).toBe('RATE_LIMITED');
    await end();
    await begin();
    await until(async () => (await guess(`${Math.random()}@example.test`)).code === 'UNAUTHENTICATED');
    // The counts are lost with it. The lock-out of the account is stored in the database, and continues to count.
    expect((await guess(email)).code).toBe('UNAUTHENTICATED');
    await goesOn();
  });

  test('each loss is one log line, and so is each recovery', () => {
    const lines = app.logs.filter((line) => line.includes('REDIS_URL'));
    const kinds = lines.map((line) => (line.includes('answers again') ? 'back' : 'lost'));
    // A Redis that stops answering need not close the connection.
    expect(kinds.length).toBeGreaterThanOrEqual(4);
    expect(kinds).toEqual(kinds.map((_, index) => (index % 2 === 0 ? 'lost' : 'back')));
  });

  test('no response was a 500', () => {
    expect(app.logs.filter((line) => line.includes('INTERNAL_ERROR'))).toEqual([]);
    process.stdout.write(
      'Redis killed, silent, empty: no wrong allow, no 500, no guess that was not counted\n',
    );
  });
});
