/**
 * An upgrade under load: the former release and this version serve together on one database. Each sees
 * what the other writes, what one ends is refused by the other, and the main job works with alternating processes. What
 * only this version may know is in use meanwhile: grants, operators who act for a user, suspended users and organizations.
 * UPGRADE_ROUNDS repeats it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  buildService,
  call,
  callOrThrow,
  signUp,
  startService,
  type Service,
  type SignedUp,
} from '../../../../scripts/service.ts';
import { useNewerFeatures } from '../support/cases/newer-features.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';
import { buildFormerVersion, type FormerVersion } from '../support/upgrade/former-version.ts';

const ROUNDS = Number(process.env['UPGRADE_ROUNDS'] ?? 1);

describe.runIf(inject('postgresUrl'))('the former version beside this one', () => {
  let directory: string;
  let former: FormerVersion;
  let database: TestDatabase;
  let old: Service;
  let now: Service;
  let ada: SignedUp;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'doorward-former-'));
    former = await buildFormerVersion();
    await buildService();
    database = await postgresDatabase(inject('postgresUrl'), null);
    const env = {
      SECURITY_RATE_LIMIT_ENABLED: 'false',
      APP_URL: 'http://doorward.test',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      DATABASE_URL: database.url,
      MAIL_FILE_DIR: join(directory, 'mail'),
      // Unknown to versions before it.
      OPERATORS: 'ada@example.test',
    };
    const at = { mailDir: join(directory, 'mail') };
    old = { ...(await startService({ root: former.folder, dataDir: join(directory, 'old'), env })), ...at };
    ada = await signUp(old);
    // The schema becomes the new one under a process of the former version at work.
    now = { ...(await startService({ dataDir: join(directory, 'new'), env })), ...at };
  }, 240_000);
  afterAll(async () => {
    await old?.kill();
    await now?.kill();
    await database?.drop();
    await rm(directory, { recursive: true, force: true });
  });

  const statuses = new Map<number, number>();
  const noted = <R extends { status: number; text: string }>(reply: R): R => {
    statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
    expect(reply.status, reply.text).toBeLessThan(500);
    return reply;
  };
  async function until(what: () => Promise<boolean>): Promise<number> {
    const began = performance.now();
    while (!(await what())) if (performance.now() - began > 10_000) throw new Error('it never came to that');
    return Math.round(performance.now() - began);
  }

  /** From a role to a decision to the end of a key: each step at the other process. */
  async function mainJob(
    round: string,
    item: Service,
    other: Service,
  ): Promise<{ changed: number; revoked: number }> {
    const owner = { token: ada.token };
    const scope = { tenant: 'organization', id: ada.organizationId };
    const project = await callOrThrow(`${item.base}/api/projects`, {
      ...owner,
      body: { scope, name: `P ${round}` },
    });
    const inProject = { tenant: 'organizationProject', id: `${ada.organizationId}:${project.id}` };
    const query = `tenant=organizationProject&scopeId=${inProject.id}`;
    const post = <D = { id: string }>(at: Service, path: string, body: object) =>
      callOrThrow<D>(`${at.base}/api/${path}`, { ...owner, body: { scope: inProject, ...body } });
    const resource = await post(other, 'resources', { name: 'Board', slug: 'board', actions: ['read'] });
    const permission = await post(item, 'permissions', { resourceId: resource.id, action: 'read' });
    const group = await post(other, 'groups', { name: 'G', permissionIds: [permission.id] });
    const role = await post(item, 'roles', { name: 'R', groupIds: [group.id] });
    const key = await post<{ id: string; clientId: string; clientSecret: string; scope: unknown }>(
      other,
      'api-keys',
      {
        name: 'K',
        roleId: role.id,
      },
    );
    const { clientId, clientSecret } = key;
    const exchange = async (at: Service) =>
      noted(
        await call<{ accessToken: string }>(`${at.base}/api/auth/token`, {
          body: { clientId, clientSecret, scope: key.scope },
        }),
      );
    const { accessToken: token } = (await exchange(item)).data;
    const question = { scope: inProject, permission: { resource: 'board', action: 'read' } };
    const allows = async (at: Service) => {
      const { data } = noted(
        await call<{ authorized: boolean }>(`${at.base}/api/auth/is-authorized`, { token, body: question }),
      );
      return data.authorized;
    };
    expect([await allows(item), await allows(other)]).toEqual([true, true]);
    await callOrThrow(`${item.base}/api/roles/${role.id}`, {
      ...owner,
      method: 'PATCH',
      body: { scope: inProject, groupIds: [] },
    });
    const changed = await until(async () => !(await allows(other)));
    await post(item, `api-keys/${key.id}/revoke`, {});
    expect((await exchange(other)).status).toBe(401);
    const refused = async () =>
      noted(await call<never>(`${other.base}/api/me/permissions?${query}`, { token })).status === 401;
    const revoked = await until(refused);
    for (const at of [item, other])
      expect(noted(await call<never>(`${at.base}/api/roles?${query}`, owner)).status).toBe(200);
    return { changed, revoked };
  }

  test(`${ROUNDS} times in turns, then without it`, { timeout: 120_000 + ROUNDS * 20_000 }, async () => {
    const slowest = { changed: 0, revoked: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const [item, other] = round % 2 ? [old, now] : [now, old];
      const { changed, revoked } = await mainJob(String(round), item, other);
      slowest.changed = Math.max(slowest.changed, changed);
      slowest.revoked = Math.max(slowest.revoked, revoked);
      await useNewerFeatures({ old, now, ada, round: String(round), noted });
    }
    for (const at of [old, now]) expect((await call(`${at.base}/health/ready`)).status).toBe(200);
    // A session of one is a session of the other, and so is its end.
    const login = {
      provider: 'email',
      providerId: 'ada@example.test',
      providerData: { password: 'three-lanterns-in-the-harbour' },
    };
    const { accessToken } = await callOrThrow<{ accessToken: string }>(`${now.base}/api/auth/login`, {
      body: login,
    });
    expect(noted(await call(`${old.base}/api/me`, { token: accessToken })).status).toBe(200);
    await callOrThrow(`${old.base}/api/auth/logout`, { token: accessToken, body: {} });
    await until(
      async () => noted(await call<never>(`${now.base}/api/me`, { token: accessToken })).status === 401,
    );
    expect(await old.stop()).toBe(0);
    await mainJob('after', now, now);
    const reported = [...statuses].map(([status, times]) => `${times} × ${status}`).join(', ');
    process.stdout.write(
      `former version ${former.commit.slice(0, 7)} beside this one: ${ROUNDS} rounds in turns, ` +
        `${reported}; a change seen after at most ${slowest.changed} ms, a revocation ${slowest.revoked} ms\n`,
    );
  });
});
