import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../../server/src/schema/rights/built-in-ids.ts';
import { appToken } from '../../../server/test/support/sign-in/app-token.ts';
import { createClient } from '../../src/client.ts';
import { composeDoorward, processPorts } from '../../src/doorward.ts';
import type { DecisionEvent } from '../../src/contracts/hooks.ts';
import type { Doorward } from '../../src/client/doorward.ts';
import type { DoorwardOptions } from '../../src/contracts/types.ts';
import {
  projectWithKey,
  serveApp,
  type ProjectUnderTest,
  type ServiceUnderTest,
} from '../support/service.ts';

/** Packages §8.3 with the real service: local decisions equal remote ones, and changes reach them. */

let service: ServiceUnderTest;
let project: ProjectUnderTest;
let admin: ReturnType<typeof createClient>;
const open: Doorward[] = [];

beforeAll(async () => {
  service = await serveApp();
  project = await projectWithKey(service, { roleId: roleIdOf('Project Admin') });
  admin = createClient({ url: service.url, token: project.owner.token, scope: project.scope });
});
afterAll(async () => {
  open.forEach((doorward) => doorward.close());
  await service.close();
});

interface Observed {
  readonly doorward: Doorward;
  readonly decisions: DecisionEvent[];
}

async function localClient(options: Partial<DoorwardOptions> = {}): Promise<Observed> {
  const decisions: DecisionEvent[] = [];
  const doorward = composeDoorward(
    { ...project.options, local: true, hooks: { onDecision: (event) => decisions.push(event) }, ...options },
    processPorts(),
  );
  open.push(doorward);
  await doorward.ready();
  return { doorward, decisions };
}

/** Resolves when the condition holds; the test fails by its time-out otherwise. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('a local client', () => {
  it('decides as the service does, in every member', async () => {
    const { api } = admin;
    const [edit] = (await api.permissions({ search: 'edit', limit: 100 })).items.filter(
      ({ resource, action }) => resource.slug === 'board' && action === 'edit',
    );
    const read = (await api.permissions({ limit: 100 })).items.find(
      ({ resource, action }) => resource.slug === 'board' && action === 'read',
    );
    const conditional = await api.createPermission({
      name: 'Share own boards',
      resourceId: read?.resource.id ?? '',
      action: 'share',
      condition: { Equals: { 'resource.ownerId': '{{user.id}}' } },
    });
    const ids = [read?.id, edit?.id, conditional.id].filter((id) => id !== undefined);
    const group = await api.createGroup({ name: 'Boards', permissionIds: ids });
    const role = await api.createRole({ name: 'Boards', groupIds: [group.id] });
    const user = await api.createUser({ name: 'Rita', roleIds: [role.id] });
    const { doorward, decisions } = await localClient({ local: { maxStalenessMs: 60_000 } });
    const remote = composeDoorward(project.options, processPorts());
    const keyTokens = await Promise.all([tokenOfKey(role.id), tokenOfKey(roleIdOf('Project Viewer'))]);
    await doorward.api.tags();
    await until(
      async () => (await doorward.check(keyTokens[1], 'board:read')) && decisions.at(-1)?.local === true,
    );
    await until(
      async () => (await doorward.check(keyTokens[0], 'board:read')) && decisions.at(-1)?.local === true,
    );
    const subjects = [{ userId: user.id }, { userId: crypto.randomUUID() }, ...keyTokens, undefined];
    const contexts = [
      undefined,
      { resource: { ownerId: user.id } },
      { resource: { ownerId: 'x' } },
      { resource: null },
    ];
    for (const who of subjects) {
      for (const permission of [
        'board:read',
        'board:edit',
        'board:share',
        'Role:Create',
        'bord:read',
        'board:none',
      ]) {
        for (const context of contexts) {
          const [mine, theirs] = [
            await doorward.check(who, permission, context),
            await remote.check(who, permission, context),
          ];
          expect(mine, `${permission} ${JSON.stringify({ who, context })}`).toEqual(theirs);
          expect(decisions.at(-1)).toMatchObject({ local: true, reason: mine.reason });
        }
      }
    }
    const questions = contexts.map((context) => ({ permission: 'board:share', context }));
    expect(await doorward.checkMany({ userId: user.id }, questions)).toEqual(
      await remote.checkMany({ userId: user.id }, questions),
    );
  });

  it('asks the service what it cannot decide, and says why', async () => {
    const { doorward, decisions } = await localClient();
    const { owner, scope } = project;
    const user = { userId: owner.userId };
    await doorward.check(owner.token, 'Role:Create');
    expect(decisions.at(-1)).toMatchObject({ local: false, fallback: 'token' });
    await doorward.explain(user, 'Role:Create');
    expect(decisions.at(-1)).toMatchObject({ local: false, fallback: 'explain' });
    const elsewhere = { tenant: 'account', id: scope.id.slice(0, 36) } as const;
    await doorward.check(owner.token, 'Role:Create', undefined, { scope: elsewhere });
    expect(decisions.at(-1)).toMatchObject({ local: false, fallback: 'scope' });
    const huge = { resource: { text: 'x'.repeat(70_000) } };
    await expect(doorward.check(user, 'board:read', huge)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
    expect(decisions.at(-1)).toMatchObject({ local: false, fallback: 'context' });
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    await expect(doorward.check(user, 'board:read', { resource: cyclic })).rejects.toThrow(TypeError);
  });

  it('decides without waiting what needs neither the service nor a proof of the token', async () => {
    const { doorward, decisions } = await localClient({ local: { maxStalenessMs: 60_000 } });
    const [user, token] = [{ userId: project.owner.userId }, await tokenOfKey(roleIdOf('Project Viewer'))];
    const question = ['Role:Query', { resource: null }] as const;
    expect(doorward.decideLocally(token, ...question)).toBeUndefined();
    await until(async () => (await doorward.check(token, ...question)) && decisions.at(-1)?.local === true);
    for (const who of [user, token]) {
      const decision = doorward.decideLocally(who, ...question);
      expect(decisions.at(-1)).toMatchObject({ operation: 'decideLocally', local: true, authorized: true });
      expect(decision).toEqual(await doorward.check(who, ...question));
    }
    expect(doorward.decideLocally(undefined, ...question)).toBeUndefined();
    expect(() => doorward.decideLocally(user, 'Role')).toThrow(TypeError);
    const remote = composeDoorward(project.options, processPorts());
    expect(remote.decideLocally(user, ...question)).toBeUndefined();
  });

  it('lets timers run during a loop over decisions', async () => {
    const { doorward, decisions } = await localClient({ local: { maxStalenessMs: 1000 } });
    let isOver = false;
    setTimeout(() => (isOver = true));
    // A policy that cannot be polled meanwhile becomes stale, and the service decides.
    while (!isOver) await doorward.can({ userId: project.owner.userId }, 'Role:Query');
    expect(decisions.every(({ local }) => local)).toBe(true);
  });

  it('with listed users leaves the others to the service', async () => {
    const listed = await admin.api.createUser({ name: 'Listed', roleIds: [] });
    const other = await admin.api.createUser({ name: 'Other', roleIds: [] });
    const { doorward, decisions } = await localClient({ local: { users: [listed.id] } });
    await doorward.check({ userId: listed.id }, 'board:read');
    expect(decisions.at(-1)).toMatchObject({ local: true });
    await doorward.check({ userId: other.id }, 'board:read');
    expect(decisions.at(-1)).toMatchObject({ local: false, fallback: 'user' });
  });

  it('sees its own change at once, and soon that of others', async () => {
    const { doorward, decisions } = await localClient();
    const user = await doorward.api.createUser({ name: 'New', roleIds: [roleIdOf('Project Admin')] });
    expect(await doorward.can({ userId: user.id }, 'Role:Create')).toBe(true);
    await until(async () => {
      expect(await doorward.can({ userId: user.id }, 'Role:Create')).toBe(true);
      return decisions.at(-1)?.local === true;
    });
    await admin.api.updateUser({ id: user.id, roleIds: [] });
    const startedAt = performance.now();
    await until(async () => !(await doorward.can({ userId: user.id }, 'Role:Create')));
    expect(performance.now() - startedAt).toBeLessThan(30_000);
    expect(decisions.at(-1)).toMatchObject({ local: true, reason: 'NO_PERMISSION' });
  });
});

async function tokenOfKey(roleId: string, fields: { allowedCidrs?: string[] } = {}): Promise<string> {
  const { clientId, clientSecret } = await admin.api.createApiKey({ name: 'k', roleId, ...fields });
  const { accessToken } = await admin.api.exchangeApiKey({
    clientId,
    clientSecret: clientSecret ?? '',
    scope: project.scope,
  });
  return accessToken;
}

describe('tokens', () => {
  it('of a revoked key are refused here too', async () => {
    const token = await tokenOfKey(roleIdOf('Project Viewer'));
    const { doorward, decisions } = await localClient();
    await until(async () => (await doorward.verifyToken(token)).liveness === 'list');
    const principal = await doorward.verifyToken(token);
    expect(await doorward.can(principal, 'Role:Query')).toBe(true);
    expect(decisions.at(-1)).toMatchObject({ local: true });
    await admin.api.revokeApiKey({ id: principal.apiKeyId ?? '', reason: 'test' });
    await until(() =>
      doorward.can(principal, 'Role:Query').then(
        () => false,
        () => true,
      ),
    );
    await expect(doorward.check(principal, 'Role:Query')).rejects.toMatchObject({ code: 'TOKEN_REVOKED' });
    await until(() =>
      doorward.verifyToken(token).then(
        () => false,
        () => true,
      ),
    );
    await expect(doorward.verifyToken(token)).rejects.toMatchObject({ code: 'TOKEN_REVOKED' });
  });

  it('of a key with networks need the address of the caller', async () => {
    const token = await tokenOfKey(roleIdOf('Project Viewer'), { allowedCidrs: ['127.0.0.0/8'] });
    const { doorward, decisions } = await localClient();
    const ask = (address?: string) => doorward.check(token, 'Role:Query', undefined, { address });
    await until(async () => (await ask('127.0.0.1')) && decisions.at(-1)?.local === true);
    expect((await ask()).authorized).toBe(true);
    expect(decisions.at(-1)).toMatchObject({ local: false, fallback: 'address' });
    await ask('no address');
    expect(decisions.at(-1)).toMatchObject({ local: false, fallback: 'address' });
    for (const address of ['127.0.0.1', '::ffff:127.9.9.9']) {
      expect((await ask(address)).authorized).toBe(true);
      expect(decisions.at(-1)).toMatchObject({ local: true });
    }
    for (const address of ['10.0.0.1', '::1'])
      await expect(ask(address)).rejects.toMatchObject({ code: 'TOKEN_REVOKED' });
  });

  it('of an app are limited by their scopes, and end with their session', async () => {
    const redirectUri = 'https://shop.example/callback';
    const made = await admin.api.createProjectApp({
      name: 'Shop',
      redirectUris: [redirectUri],
      scopes: ['board:read'],
    });
    // An app counts for tokens of a later second than its last change.
    const second = Math.floor(Date.parse(made.updatedAt) / 1000);
    await until(() => Date.now() > (second + 2) * 1000);
    const token = await appToken(service.app, {
      app: { ...made, redirectUri },
      userId: project.owner.userId,
      scopes: ['board:read'],
    });
    const { doorward, decisions } = await localClient();
    const principal = await doorward.verifyToken(token);
    expect(principal).toMatchObject({ type: 'projectApp', clientId: made.clientId, scopes: ['board:read'] });
    await until(async () => (await doorward.check(token, 'board:read')) && decisions.at(-1)?.local === true);
    expect(await doorward.check(token, 'Role:Create')).toEqual({
      authorized: false,
      reason: 'SCOPE_NOT_CONSENTED',
    });
    expect(decisions.at(-1)).toMatchObject({ local: true });
    await service.app.must('revokeProjectToken', { client_id: made.clientId, token });
    await until(() =>
      doorward.verifyToken(token).then(
        () => false,
        () => true,
      ),
    );
    await expect(doorward.verifyToken(token)).rejects.toMatchObject({ code: 'TOKEN_REVOKED' });
    await expect(doorward.check(token, 'board:read')).rejects.toMatchObject({ code: 'TOKEN_REVOKED' });
  });
});
