import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { unique, type Person } from '../support/client.ts';
import { challengeOf, consented, newVerifier } from '../support/project-code.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';

/**
 * Two apps on one PostgreSQL database share nothing but the database: what one changes, the other learns of
 * through the change channel. `until` asks again and again and notes how long it took; a promise of a second is kept
 * when the figure says so, not when a busy machine lets a test pass.
 */
const PATIENCE_MS = 10_000;
const waited: number[] = [];

async function until(what: () => Promise<boolean>): Promise<void> {
  const began = performance.now();
  while (!(await what())) {
    if (performance.now() - began > PATIENCE_MS) throw new Error('the other process did not learn of it');
    await new Promise((resolve) => setImmediate(resolve));
  }
  waited.push(performance.now() - began);
}

describe.runIf(inject('postgresUrl'))('two processes on one database', () => {
  let one: TestApp;
  let other: TestApp;
  let owner: Person;
  let scope: ScopeRef;

  beforeAll(async () => {
    one = await startApp();
    other = await startApp({}, one);
    owner = await one.person();
    scope = (await one.must('createProject', { scope: owner.account, name: 'Two' }, { token: owner.token }))
      .scope;
  });
  afterAll(async () => {
    const slowest = Math.max(...waited).toFixed(0);
    process.stdout.write(
      `two processes: ${waited.length} changes seen by the other, slowest after ${slowest} ms\n`,
    );
    await other.close();
    await one.close();
  });

  async function keyWith(roleId?: string) {
    const key = await one.must(
      'createApiKey',
      { scope, ...(roleId ? { roleId } : {}) },
      { token: owner.token },
    );
    const clientSecret = key.clientSecret as string;
    const exchange = { clientId: key.clientId, clientSecret, scope: key.scope };
    const { accessToken } = await one.must('exchangeApiKey', exchange);
    return { id: key.id, exchange, token: accessToken };
  }

  it('refuses a revoked key at the exchange at once, and its token within a second', async () => {
    for (let round = 0; round < 20; round++) {
      const { id, exchange, token } = await keyWith();
      expect((await other.call('tags', { scope }, { token })).status).toBe(200);
      await one.must('revokeApiKey', { scope, id }, { token: owner.token });
      expect((await other.call('exchangeApiKey', exchange)).code).toBe('UNAUTHENTICATED');
      await until(async () => (await other.call('tags', { scope }, { token })).status === 401);
      expect((await one.call('tags', { scope }, { token })).status).toBe(401);
    }
  });

  it('refuses the keys of a deleted project', async () => {
    for (let round = 0; round < 5; round++) {
      const as = { token: owner.token };
      const project = await one.must('createProject', { scope: owner.account, name: 'Ending' }, as);
      const key = await one.must('createApiKey', { scope: project.scope }, as);
      const clientSecret = key.clientSecret as string;
      const exchange = { clientId: key.clientId, clientSecret, scope: key.scope };
      const { accessToken: token } = await other.must('exchangeApiKey', exchange);
      const status = async () => (await other.call('tags', { scope: project.scope }, { token })).status;
      expect(await status()).toBe(200);
      await one.must('deleteProject', { scope: owner.account, id: project.id }, as);
      expect((await other.call('exchangeApiKey', exchange)).code).toBe('UNAUTHENTICATED');
      await until(async () => (await status()) === 401);
    }
  });

  it('sees a right that was given or taken elsewhere', async () => {
    const as = { token: owner.token };
    const slug = `r-${unique()}`;
    const resource = await one.must(
      'createResource',
      { scope, name: 'R', slug, createPermissions: true },
      as,
    );
    const read = (await one.must('permissions', { scope, resourceId: resource.id, action: 'read' }, as))
      .items[0];
    const group = await one.must('createGroup', { scope, name: 'G' }, as);
    const role = await one.must('createRole', { scope, name: 'R', groupIds: [group.id] }, as);
    const { token } = await keyWith(role.id);
    const ask = async (app: TestApp) =>
      (await app.must('isAuthorized', { permission: { resource: slug, action: 'read' } } as never, { token }))
        .authorized;
    for (let round = 0; round < 20; round++) {
      const given = round % 2 === 0;
      await one.must(
        'updateGroup',
        { scope, id: group.id, permissionIds: given ? [read?.id as string] : [] },
        as,
      );
      expect(await ask(one)).toBe(given);
      await until(async () => (await ask(other)) === given);
    }
  });

  it('holds tokens of an app to what the app may now, and refuses those of one that is gone', async () => {
    const as = { token: owner.token };
    const redirectUri = 'https://app.example/callback';
    const scopes = ['Tag:Query', 'Role:Query'];
    const fields = { scope, name: 'App', redirectUris: [redirectUri], scopes };
    const app = await one.must('createProjectApp', fields, as);
    const code_verifier = newVerifier();
    const challenge = challengeOf(code_verifier);
    const { userId } = owner;
    const code = await consented(one, { appId: app.id, userId, redirectUri, challenge, scopes });
    const { accessToken: token } = await one.must('projectToken', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier,
      client_id: app.clientId,
    });
    const status = async () => (await other.call('tags', { scope }, { token })).status;
    expect(await status()).toBe(200);
    for (let round = 0; round < 20; round++) {
      const isNarrow = round % 2 === 0;
      const left = isNarrow ? ['Role:Query'] : scopes;
      await one.must('updateProjectApp', { scope, id: app.id, scopes: left }, as);
      await until(async () => (await status()) === (isNarrow ? 403 : 200));
      expect((await other.call('roles', { scope }, { token })).status).toBe(200);
    }
    await one.must('deleteProjectApp', { scope, id: app.id }, as);
    await until(async () => (await status()) === 401);
  });

  it('ends a session everywhere', async () => {
    const person = await one.person();
    expect((await other.call('me', {}, { token: person.token })).status).toBe(200);
    await one.must('logout', {}, { token: person.token });
    await until(async () => (await other.call('me', {}, { token: person.token })).status === 401);
  });
});
