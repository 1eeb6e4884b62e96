import { copyFile, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it, test } from 'vitest';
import {
  buildService,
  call,
  ServiceNotStarted,
  signUp,
  startService,
  type Service,
  type SignedUp,
} from '../../../../scripts/service.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';

/** WORKERS: several processes on one port are one service to the callers, also when one of them dies. */
const PATIENCE_MS = 30_000;

beforeAll(() => buildService());

test.skipIf(inject('postgresUrl'))('an embedded database has one process', async () => {
  const starting = startService({ env: { WORKERS: '2' } });
  await expect(starting).rejects.toThrow(ServiceNotStarted);
  await expect(starting).rejects.toMatchObject({
    exitCode: 1,
    output: expect.stringContaining('WORKERS above 1 needs DATABASE_URL') as string,
  });
});

describe.runIf(inject('postgresUrl'))('two workers', () => {
  let database: TestDatabase;
  let service: Service;
  let ada: SignedUp;

  const start = (node = process.execPath): Promise<Service> =>
    startService({
      node,
      env: {
        WORKERS: '2',
        DATABASE_URL: database.url,
        ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64'),
        SECURITY_RATE_LIMIT_ENABLED: 'false',
      },
    });
  beforeAll(async () => {
    database = await postgresDatabase(inject('postgresUrl'), null);
    service = await start();
    ada = await signUp(service);
  }, 120_000);
  afterAll(async () => {
    await service?.kill();
    await database?.drop();
  });

  /** A new connection for each call, so that the workers take them in rotation. */
  const statusOf = async (path: string, token: string): Promise<number> =>
    (
      await fetch(`${service.base}${path}`, {
        headers: { authorization: `Bearer ${token}`, connection: 'close' },
      })
    ).status;
  const workers = async (): Promise<number[]> =>
    (await readFile(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8'))
      .split(' ')
      .filter(Boolean)
      .map(Number);
  const eventually = async (what: () => Promise<boolean>): Promise<number> => {
    const began = performance.now();
    while (!(await what())) {
      if (performance.now() - began > PATIENCE_MS) throw new Error('it did not come to that');
      await sleep(10);
    }
    return performance.now() - began;
  };
  const metrics = async (): Promise<string> => (await fetch(`${service.base}/metrics`)).text();
  const bothListen = async () => /worker="1"[\s\S]*worker="2"/.test(await metrics());

  it('each reports the metrics of both', async () => {
    await eventually(bothListen);
    const text = await metrics();
    for (const name of ['doorward_memory_bytes', 'doorward_db_connections']) {
      expect(text.match(new RegExp(`^# TYPE ${name} `, 'gm'))).toHaveLength(1);
      expect(text.match(new RegExp(`^${name}\\{worker="[12]"\\} \\d+$`, 'gm'))).toHaveLength(2);
    }
    expect(text).toMatch(/^doorward_operations_total\{operation="register",code="OK",worker="\d"\} 1$/m);
  });

  it('both know within a second that a session has ended', async () => {
    const waits: number[] = [];
    for (let round = 0; round < 3; round++) {
      const { token } = await signUp(service, `grace${round}`);
      const statuses = () => Promise.all(Array.from({ length: 8 }, () => statusOf('/api/me', token)));
      expect(new Set(await statuses())).toEqual(new Set([200]));
      expect((await call(`${service.base}/api/auth/logout`, { token, body: {} })).status).toBe(200);
      waits.push(await eventually(async () => (await statuses()).every((status) => status === 401)));
      expect(new Set(await statuses())).toEqual(new Set([401]));
    }
    process.stdout.write(
      `two workers: sessions over on both after at most ${Math.max(...waits).toFixed(0)} ms\n`,
    );
  });

  it('a killed one is replaced, and the other serves meanwhile', async () => {
    const before = await workers();
    expect(before).toHaveLength(2);
    process.kill(before[0] as number, 'SIGKILL');
    const gone = async () => !(await workers()).includes(before[0] as number);
    await eventually(gone);
    expect(await statusOf('/api/me', ada.token)).toBe(200);
    const took = await eventually(async () => (await workers()).length === 2 && (await bothListen()));
    expect(service.output()).toContain('a worker ended and is replaced');
    process.stdout.write(`a killed worker was replaced, and served, after ${took.toFixed(0)} ms\n`);
  });

  it('stop together: requests under way are answered, and the exit code is 0', async () => {
    const answered: number[] = [];
    let over = false;
    const load = Array.from({ length: 8 }, async () => {
      while (!over) {
        const began = performance.now();
        const status = await statusOf('/api/me', ada.token).catch(() => null);
        if (status === null) return began;
        answered.push(status);
      }
      return Infinity;
    });
    await eventually(async () => answered.length > 50);
    const signalled = performance.now();
    const pids = await workers();
    expect(await service.stop()).toBe(0);
    over = true;
    // A caller without a response connected after the last worker had stopped listening.
    for (const refusedAt of await Promise.all(load)) expect(refusedAt).toBeGreaterThan(signalled);
    expect([...new Set(answered)].filter((status) => ![200, 503].includes(status))).toEqual([]);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('end with the parent process, however that ends', async () => {
    service = await start();
    await eventually(async () => (await workers()).length === 2);
    const pids = await workers();
    await service.kill();
    await eventually(async () =>
      pids.every((pid) => {
        try {
          return !process.kill(pid, 0);
        } catch {
          return true;
        }
      }),
    );
  });

  it('keep serving while no replacement can be started, and are as many as before once one can', async () => {
    const place = await mkdtemp(join(tmpdir(), 'doorward-node-'));
    const node = join(place, 'node');
    await copyFile(process.execPath, node);
    service = await start(node);
    try {
      await eventually(async () => service.output().includes('is ready'));
      const [first, second] = await workers();
      await rename(node, `${node}.away`);
      process.kill(first as number, 'SIGKILL');
      const tried = () => service.output().split('ENOENT').length - 1;
      await eventually(async () => tried() > 1 || (await workers()).length === 0);
      expect(await workers()).toEqual([second]);
      expect((await fetch(`${service.base}/health/ready`)).status).toBe(200);
      await rename(`${node}.away`, node);
      await eventually(async () => (await workers()).length === 2 && (await bothListen()));
      expect(await service.stop()).toBe(0);
    } finally {
      await service.kill();
      await rm(place, { recursive: true });
    }
  });
});
