import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { appToken } from '../support/sign-in/app-token.ts';
import { firmOf, type Firm } from '../support/tenants/firm.ts';
import { snapshotReader, type Reader } from '../support/tenants/snapshots.ts';

/** Polls for changes of a snapshot at another process than the one that makes the change, and at one that stops. */
const viewer = roleIdOf('Project Viewer');

describe.runIf(inject('postgresUrl'))('two processes on one database', () => {
  let here: TestApp;
  let there: TestApp;
  let firm: Firm;
  let as: { token: string };
  let readers: readonly [Reader, Reader];
  const waited: number[] = [];

  beforeAll(async () => {
    here = await startOwnApp();
    there = await startOwnApp({}, here);
    firm = await firmOf(here);
    as = { token: firm.owner.token };
    readers = [snapshotReader(here, firm.project, as.token), snapshotReader(there, firm.project, as.token)];
  });
  afterAll(async () => {
    process.stdout.write(
      `snapshot polls at another process: slowest after ${Math.max(...waited).toFixed(0)} ms\n`,
    );
    await there.close();
    await here.close();
  });

  const newUser = () =>
    here.must('createUser', { scope: firm.project, name: 'U', roleIds: [viewer] }, as).then(({ id }) => id);

  it('have equal versions, sequences and differences', async () => {
    const [first, second] = readers;
    const [a, b] = [(await first.snapshot()).claims, (await second.snapshot()).claims];
    expect([b.version, b.sequence]).toEqual([a.version, a.sequence]);
    const id = await newUser();
    const [c, d] = [
      (await first.changes(a.version, { timeoutSeconds: 0 })).claims,
      (await second.changes(a.version, { timeoutSeconds: 0 })).claims,
    ];
    expect([d.to, d.sequence, d.put]).toEqual([c.to, c.sequence, c.put]);
    expect(c.put.users?.map((user) => user.id)).toEqual([id]);
  });

  it('serve a client alternately, which never gets an older state', async () => {
    let held = (await readers[0].snapshot()).claims;
    let { version } = held;
    for (let round = 0; round < 20; round++) {
      if (round % 3 === 0) await newUser();
      const { claims } = await (readers[round % 2] as Reader).changes(version, { timeoutSeconds: 0 });
      expect(claims.sequence).toBeGreaterThanOrEqual(held.sequence);
      expect(claims.asOf).toBeGreaterThanOrEqual(held.asOf);
      held = { ...held, sequence: claims.sequence, asOf: claims.asOf };
      version = claims.to;
    }
    expect(version).toBe((await readers[0].snapshot()).claims.version);
  });

  it('answer a poll soon after a change elsewhere', async () => {
    for (let round = 0; round < 10; round++) {
      const { version } = (await readers[1].snapshot()).claims;
      const poll = readers[1].changes(version, { timeoutSeconds: 30 });
      await there.must('roles', { scope: firm.project }, as);
      const id = await newUser();
      const begin = performance.now();
      const { claims } = await poll;
      waited.push(performance.now() - begin);
      expect(claims.put.users?.map((user) => user.id)).toEqual([id]);
    }
    expect(waited.toSorted((a, b) => a - b)[5]).toBeLessThan(5000);
  });

  it('answer a poll when the session of an app ends elsewhere', async () => {
    const redirectUri = 'https://app.example/callback';
    const input = { scope: firm.project, name: 'Shop', redirectUris: [redirectUri] };
    const shop = await here.must('createProjectApp', input, as);
    const member = await firm.member('Organization Viewer');
    const token = await appToken(here, { app: { ...shop, redirectUri }, userId: member.userId });
    const { version, ended } = (await readers[1].snapshot()).claims;
    const poll = readers[1].changes(version, { timeoutSeconds: 30 });
    await there.must('roles', { scope: firm.project }, as);
    await here.must('revokeProjectToken', { client_id: shop.clientId, token });
    const { claims } = await poll;
    expect(claims.ended.jti.length).toBe(ended.jti.length + 1);
    expect([claims.full, claims.put, claims.drop]).toEqual([false, {}, {}]);
  });

  it('refuse a poll whose caller lost the right elsewhere', async () => {
    const person = await firm.user({}, 'PolicySnapshot:Read');
    const mine = snapshotReader(there, firm.project, person.token);
    const { version } = (await mine.snapshot({ users: 'none' })).claims;
    const poll = mine.raw('/changes', { since: version, users: 'none', timeoutSeconds: '30' });
    await there.must('roles', { scope: firm.project }, as);
    await here.must('updateUser', { scope: firm.project, id: person.userId, roleIds: [viewer] }, as);
    const begin = performance.now();
    const answer = await poll;
    waited.push(performance.now() - begin);
    expect([answer.status, answer.reason]).toEqual([403, 'NO_PERMISSION']);
  });

  it('contain at the other what was committed before, at once', async () => {
    for (let round = 0; round < 10; round++) {
      const created = await here.call(
        'createUser',
        { scope: firm.project, name: 'R', roleIds: [viewer] },
        as,
      );
      const minRevision = String(created.headers['x-doorward-revision']);
      const { claims } = await readers[1].snapshot({ minRevision });
      expect(claims.users.map(({ id }) => id)).toContain(created.data.id);
    }
  });
});

describe('a waiting poll', () => {
  it('ends with its client, so that it does not count any more', async () => {
    const app = await startOwnApp();
    try {
      const firm = await firmOf(app);
      const reader = snapshotReader(app, firm.project, firm.owner.token);
      const { version } = (await reader.snapshot()).claims;
      await app.server.listen({ host: '127.0.0.1', port: 0 });
      const { port } = app.server.server.address() as AddressInfo;
      const query = new URLSearchParams({
        tenant: firm.project.tenant,
        scopeId: firm.project.id,
        since: version,
        timeoutSeconds: '30',
      });
      const path = `/api/policy-snapshot/changes?${query.toString()}`;
      const headers = { authorization: `Bearer ${firm.owner.token}` };
      let refused = 0;
      const open = () => {
        const sent = request({ host: '127.0.0.1', port, path, headers, agent: false });
        sent.on('error', () => undefined);
        sent.on('response', ({ statusCode }) => (refused += Number(statusCode === 429)));
        sent.end();
        return () => sent.destroy();
      };
      const inProcess = Array.from({ length: 150 }, () =>
        reader.raw('/changes', { since: version, timeoutSeconds: '30' }),
      );
      const closing = Array.from({ length: 60 }, open);
      const isFull = async () =>
        (await reader.raw('/changes', { since: version, timeoutSeconds: '1' })).status === 429;
      await vi.waitFor(() => expect(refused).toBe(10), 20_000);
      expect(await isFull()).toBe(true);
      for (const close of closing) close();
      // With pauses: calls in the process leave the event loop no time to hear of the closed connections.
      await vi.waitFor(async () => expect(await isFull()).toBe(false), 20_000);
      await app.must(
        'createUser',
        { scope: firm.project, name: 'U', roleIds: [viewer] },
        { token: firm.owner.token },
      );
      expect(new Set((await Promise.all(inProcess)).map(({ status }) => status))).toEqual(new Set([200]));
    } finally {
      await app.close();
    }
  });

  it('is answered when the service stops', async () => {
    const app = await startOwnApp();
    const firm = await firmOf(app);
    const reader = snapshotReader(app, firm.project, firm.owner.token);
    const { version } = (await reader.snapshot()).claims;
    const poll = reader.raw('/changes', { since: version, timeoutSeconds: '30' });
    await app.must('roles', { scope: firm.project }, { token: firm.owner.token });
    const begin = performance.now();
    const closed = app.close();
    const answer = await poll;
    expect(answer.status).toBe(200);
    const claims = JSON.parse(Buffer.from(answer.body.split('.')[1] ?? '', 'base64url').toString()) as {
      from: string;
      to: string;
    };
    expect([claims.from, claims.to]).toEqual([version, version]);
    await closed;
    expect(performance.now() - begin).toBeLessThan(10_000);
  });
});
