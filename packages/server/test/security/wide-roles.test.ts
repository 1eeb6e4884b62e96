import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import type { Person } from '../support/app/client.ts';
import { leastToll } from '../support/app/event-loop.ts';

/**
 * The widest permissions that the API allows: a role with a hundred groups with the same hundred permissions of one
 * pair, each with long conditions and metadata. Ten thousand paths lead to one authorization check, which must not
 * block the event loop for longer than its limit, however often it is repeated.
 */
const WIDTH = 100;
const MOST_MS = 1000;

let app: TestApp;
let owner: Person;
/** Has the role, and makes requests with a key. */
let worker: { readonly userId: string; readonly token: string };
let project: ScopeRef;
let first = '';
const as = ({ token }: { readonly token: string }) => ({ token });
const filler = 'x'.repeat(7000);

beforeAll(async () => {
  app = await startApp();
  owner = await app.person({ type: 'organization' });
  const made = await app.must('createProject', { scope: owner.account, name: 'Wide' }, as(owner));
  project = made.scope;
  const { id: resourceId } = await app.must(
    'createResource',
    { scope: project, name: 'Order', slug: 'order', actions: ['read'] },
    as(owner),
  );
  const permissionIds: string[] = [];
  for (let at = 0; at < WIDTH; at++) {
    const condition = { StringEquals: { 'group.metadata.key': `${at} ${filler}` } };
    const permission = { scope: project, resourceId, action: 'read', name: `P${at}`, condition };
    permissionIds.push((await app.must('createPermission', permission, as(owner))).id);
  }
  const groupIds: string[] = [];
  for (let at = 0; at < WIDTH; at++) {
    const group = { scope: project, name: `G${at}`, permissionIds, metadata: { filler } };
    groupIds.push((await app.must('createGroup', group, as(owner))).id);
  }
  first = groupIds[0] ?? '';
  const role = await app.must('createRole', { scope: project, name: 'Wide', groupIds }, as(owner));
  const user = { scope: project, name: 'Worker', roleIds: [role.id] };
  const { id: userId } = await app.must('createUser', user, as(owner));
  const [, projectId = ''] = project.id.split(':');
  const scope = { tenant: 'projectUser' as const, id: `${projectId}:${userId}` };
  const key = await app.must('createApiKey', { scope }, as(owner));
  const secret = { clientId: key.clientId, clientSecret: key.clientSecret ?? '', scope };
  worker = { userId, token: (await app.must('exchangeApiKey', secret)).accessToken };
}, 300_000);
afterAll(() => app.close());

const question = { permission: { resource: 'order', action: 'read' } };

describe.each(storyTransports(import.meta))('ten thousand paths over %s', (via) => {
  const asWorker = () => ({ token: worker.token, via });

  /** Invalidates the cached permissions. */
  const invalidated = (key: string) =>
    app.must('updateGroup', { scope: project, id: first, metadata: { key } }, as(owner));

  it('one check, cold and warm', async () => {
    for (const when of ['cold', 'warm']) {
      let times = 0;
      const { result, blockedMs } = await leastToll(MOST_MS, async () => {
        if (when === 'cold') await invalidated(`cold ${via} ${times++}`);
        return app.must('isAuthorized', { scope: project, ...question }, asWorker());
      });
      expect(result.reason, when).toBe('CONDITION_NOT_MET');
      expect(blockedMs, when).toBeLessThan(MOST_MS);
    }
  });

  it('a hundred checks at once', async () => {
    const items = Array.from({ length: 100 }, () => question);
    const { result, blockedMs } = await leastToll(MOST_MS, () =>
      app.must('isAuthorizedBatch', { scope: project, items }, asWorker()),
    );
    expect(result.items.map(({ reason }) => reason)).toEqual(items.map(() => 'CONDITION_NOT_MET'));
    expect(blockedMs).toBeLessThan(MOST_MS);
  });

  it('the list of permissions', async () => {
    const { result, blockedMs } = await leastToll(MOST_MS, () =>
      app.must('myPermissions', { scope: project }, asWorker()),
    );
    expect(result.permissions).toContainEqual({ resource: 'order', action: 'read', conditional: true });
    expect(blockedMs).toBeLessThan(MOST_MS);
  });

  it('an explanation', async () => {
    const requested = { scope: project, ...question, subject: { userId: worker.userId }, explain: true };
    const { result, blockedMs } = await leastToll(MOST_MS, () =>
      app.must('isAuthorized', requested, { token: owner.token, via }),
    );
    expect(result.reason).toBe('CONDITION_NOT_MET');
    expect(blockedMs).toBeLessThan(MOST_MS);
  });

  it('the users who can, each with such a role', async () => {
    const requested = { scope: project, ...question };
    const { result, blockedMs } = await leastToll(MOST_MS, () =>
      app.must('whoCan', requested, { token: owner.token, via }),
    );
    expect(result.items).toEqual([]);
    expect(blockedMs).toBeLessThan(MOST_MS);
  });

  it('the permissions of the user', async () => {
    const { result, blockedMs } = await leastToll(MOST_MS, () =>
      app.must('userPermissions', { scope: project, id: worker.userId }, { token: owner.token, via }),
    );
    expect(result.permissions).toContainEqual({ resource: 'order', action: 'read', conditional: true });
    expect(blockedMs).toBeLessThan(MOST_MS);
  });

  it('a dry run of a change to one of the groups', async () => {
    const change = { scope: project, id: first, permissionIds: [], dryRun: true };
    const { blockedMs } = await leastToll(MOST_MS, () =>
      app.must('updateGroup', change, { token: owner.token, via }),
    );
    expect(blockedMs).toBeLessThan(MOST_MS);
  });

  it('the only path whose condition is met', async () => {
    await invalidated(`7 ${filler}`);
    const { reason, matchedPermission } = await app.must(
      'isAuthorized',
      { scope: project, ...question },
      asWorker(),
    );
    expect(reason).toBe('ALLOWED_BY_CONDITION');
    expect(matchedPermission?.name).toBe('P7');
  });
});
