import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../server/src/schema/rights/built-in-ids.ts';
import { createClient } from '../src/client.ts';
import { createDoorward, ForbiddenError, TokenError } from '../src/node.ts';
import type { Doorward } from '../src/client/doorward.ts';
import { projectWithKey, serveApp, type ProjectUnderTest, type ServiceUnderTest } from './support/service.ts';

let service: ServiceUnderTest;
let project: ProjectUnderTest;
let admin: ProjectUnderTest;
let doorward: Doorward;

beforeAll(async () => {
  service = await serveApp();
  project = await projectWithKey(service, ['read']);
  admin = await projectWithKey(service, { roleId: roleIdOf('Project Admin') });
  doorward = createDoorward(project.options);
});
afterAll(() => service.close());

const keyToken = async ({ options: { url: _, ...credentials } }: ProjectUnderTest): Promise<string> =>
  (await createClient({ url: service.url }).api.exchangeApiKey(credentials)).accessToken;

describe('questions', () => {
  it("of the client's own credential", async () => {
    expect(await doorward.can(undefined, 'board:read')).toBe(true);
    const decision = await doorward.check(undefined, { resource: 'board', action: 'edit' });
    expect(decision).toEqual({ authorized: false, reason: 'NO_PERMISSION' });
    await expect(doorward.assertCan(undefined, 'board:read')).resolves.toBeUndefined();
    const refusal = await doorward.assertCan(undefined, 'board:edit').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ForbiddenError);
    expect(refusal).toMatchObject({ code: 'FORBIDDEN', status: 403, reason: 'NO_PERMISSION' });
  });

  it('about a user need a permission', async () => {
    const who = { userId: project.owner.userId };
    const refusal = await doorward.check(who, 'board:read').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ForbiddenError);
    const asAdmin = createDoorward(admin.options);
    const decision = await asAdmin.check({ userId: admin.owner.userId }, 'Role:Create');
    expect(decision).toMatchObject({ authorized: true, reason: 'ALLOWED' });
    expect(await asAdmin.can({ userId: project.owner.userId }, 'Role:Create')).toBe(false);
  });

  it('of a token, and of its principal', async () => {
    const token = await keyToken(project);
    const gateway = createDoorward({ url: service.url, scope: project.scope });
    expect(await gateway.can(token, 'board:read')).toBe(true);
    const principal = await gateway.verifyToken(token);
    expect(principal).toMatchObject({
      type: 'apiKey',
      userId: project.owner.userId,
      apiKeyId: project.key.id,
      scope: project.scope,
      liveness: 'none',
    });
    expect(await gateway.can(principal, 'board:read')).toBe(true);
    expect(await gateway.can(principal, 'board:edit')).toBe(false);
    await expect(gateway.can({ ...principal }, 'board:read')).rejects.toThrow(TypeError);
    await expect(gateway.can({ userId: 'x', type: 'user' } as never, 'board:read')).rejects.toThrow(
      TypeError,
    );
    expect((await gateway.verifyToken(token, { live: true })).liveness).toBe('service');
  });

  it('in any number, in their order', async () => {
    const questions = Array.from({ length: 950 }, (_, i) => ({
      permission: i % 3 === 0 ? 'board:read' : 'board:edit',
    }));
    const decisions = await doorward.checkMany(undefined, questions);
    expect(decisions.map(({ authorized }) => authorized)).toEqual(questions.map((_, i) => i % 3 === 0));
    expect(await doorward.checkMany(undefined, [])).toEqual([]);
  });

  it('with an explanation', async () => {
    const asAdmin = createDoorward(admin.options);
    const { explanation, reason } = await asAdmin.explain(undefined, 'board:read');
    expect(reason).toBe('NO_PERMISSION');
    expect(explanation?.subject).toEqual({ type: 'apiKey', id: admin.key.id });
  });

  it('about everything that is held, sent once', async () => {
    const events: unknown[] = [];
    const own = createDoorward({ ...project.options, hooks: { onResponse: (event) => events.push(event) } });
    const first = await own.permissions();
    expect(first.permissions).toContainEqual({ resource: 'board', action: 'read', conditional: false });
    expect(await own.permissions()).toBe(first);
    expect(events).toMatchObject([
      { operation: 'exchangeApiKey', status: 200 },
      { status: 200 },
      { status: 304 },
    ]);
  });

  it('about everyone who can, over all pages', async () => {
    const { app } = service;
    const { scope } = admin;
    const as = { token: admin.owner.token };
    const roleIds = [roleIdOf('Project Viewer')];
    const ids = [admin.owner.userId];
    for (let n = 0; n < 120; n++)
      ids.push((await app.must('createUser', { scope, name: `Viewer ${n}`, roleIds }, as)).id);
    const events: unknown[] = [];
    const hooks = { onResponse: (event: object) => events.push(event) };
    const asAdmin = createDoorward({ ...admin.options, hooks });
    const allowed = [];
    for await (const item of asAdmin.whoCan('Role:Query')) allowed.push(item);
    expect(allowed.map(({ subject }) => subject.id)).toEqual(ids.sort());
    expect(allowed[0]).toMatchObject({ subject: { type: 'user' }, reason: 'ALLOWED' });
    expect(events).toMatchObject([{}, { operation: 'whoCan' }, { operation: 'whoCan' }]);
    const listed = [];
    const input = { permission: { resource: 'Role', action: 'Query' }, limit: 50 };
    for await (const { subject } of asAdmin.api.whoCan.each(input)) listed.push(subject.id);
    expect(listed).toEqual(ids);

    await expect(doorward.whoCan('Role:Query').next()).rejects.toThrow(ForbiddenError);
    expect(() => asAdmin.whoCan('Role')).toThrow(TypeError);
    const controller = new AbortController();
    const stopped = asAdmin.whoCan('Role:Query', undefined, { signal: controller.signal });
    controller.abort();
    await expect(stopped.next()).rejects.toMatchObject({ code: 'ABORTED' });
  });

  it('of wrong form are type errors', async () => {
    for (const permission of ['board', 'a:b:c', ':read', 'board:', '', { resource: 'board' }, null])
      await expect(
        doorward.check(undefined, permission as never),
        JSON.stringify(permission),
      ).rejects.toThrow(TypeError);
    for (const who of [null, 5, {}, { userId: '' }, { userId: undefined }, []])
      await expect(doorward.check(who as never, 'board:read'), JSON.stringify(who)).rejects.toThrow(
        TypeError,
      );
    for (const context of [{ ownerId: 'x' }, { resource: 'x' }, { resource: [] }, 'x', null])
      await expect(doorward.check(undefined, 'board:read', context as never)).rejects.toThrow(TypeError);
    await expect(doorward.check('no token', 'board:read')).rejects.toThrow(TokenError);
  });
});

describe('tokens that ended', () => {
  it('are refused: as subject, and live', async () => {
    const other = await projectWithKey(service);
    const gateway = createDoorward({ url: service.url, scope: other.scope });
    const own = createDoorward(other.options);
    const token = await keyToken(other);
    expect(await own.can(undefined, 'board:read')).toBe(true);
    await service.app.must(
      'revokeApiKey',
      { scope: other.scope, id: other.key.id },
      { token: other.owner.token },
    );
    await expect(gateway.check(token, 'board:read')).rejects.toMatchObject({
      code: 'TOKEN_REVOKED',
      name: 'TokenError',
    });
    await expect(gateway.verifyToken(token, { live: true })).rejects.toMatchObject({ code: 'TOKEN_REVOKED' });
    expect((await gateway.verifyToken(token)).liveness).toBe('none');
    const refusal = await own.check(undefined, 'board:read').catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'UNAUTHENTICATED', operation: 'exchangeApiKey', status: 401 });
    expect(inspect(refusal)).not.toContain(other.options.clientSecret);
  });
});

describe('operations', () => {
  it('take a flat input and answer data', async () => {
    const { api } = createDoorward(admin.options);
    const role = await api.createRole({ name: 'Clerk' });
    expect((await api.role({ id: role.id })).name).toBe('Clerk');
    expect((await api.updateRole({ id: role.id, name: 'Chief clerk' })).name).toBe('Chief clerk');
    const impact = await api.deleteRole({ id: role.id, dryRun: true });
    expect(impact.dryRun).toBe(true);
    await api.deleteRole({ id: role.id });
    await expect(api.role({ id: role.id })).rejects.toMatchObject({ code: 'NOT_FOUND', status: 404 });
    for (const id of ['..', '.', '', undefined])
      await expect(api.role({ id: id as string })).rejects.toThrow(TypeError);
  });

  it('iterate over pages', async () => {
    const { api } = createDoorward(admin.options);
    const wanted = new Set(Array.from({ length: 7 }, (_, i) => `tag ${i}`));
    for (const name of wanted) await api.createTag({ name });
    const names: string[] = [];
    for await (const tag of api.tags.each({ limit: 2 })) names.push(tag.name);
    expect(new Set(names)).toEqual(wanted);
    for await (const tag of api.tags.each({ limit: 2 })) {
      expect(tag.name).toBeDefined();
      break;
    }
  });

  it('see their own changes', async () => {
    const own = createDoorward(admin.options);
    expect(own.revision).toBeNull();
    await own.api.createTag({ name: 'revision' });
    expect(own.revision).toMatch(/^[\w-]{22}$/);
    expect(await own.can(undefined, 'Tag:Create')).toBe(true);
  });

  it('have their revision when hooks and callers see the answer', async () => {
    const own = createDoorward(admin.options);
    const revisions: unknown[] = [];
    own.observe({ onResponse: ({ operation }) => revisions.push([operation, own.revision]) });
    await own.api.createTag({ name: 'first' });
    const first = own.revision;
    expect(first).toMatch(/^[\w-]{22}$/);
    const scope = admin.scope as { tenant: 'accountProject'; id: string };
    await own.http.POST('/api/tags', { body: { name: 'second', scope } });
    expect(own.revision).not.toBe(first);
    const changes = [
      ['createTag', first],
      ['POST', own.revision],
    ];
    expect(revisions).toEqual([['exchangeApiKey', null], ...changes]);
  });

  it('of openapi-fetch return errors', async () => {
    const { http } = createDoorward(admin.options);
    const { tenant, id: scopeId } = admin.scope;
    const list = await http.GET('/api/roles', {
      params: { query: { tenant: tenant as 'accountProject', scopeId } },
    });
    expect(list.data?.data.items.length).toBeGreaterThan(0);
    const missing = await http.GET('/api/roles/{id}', {
      params: { path: { id: admin.key.id }, query: { tenant: tenant as 'accountProject', scopeId } },
    });
    expect(missing.error).toMatchObject({ code: 'NOT_FOUND' });
    expect(missing.response.status).toBe(404);
  });

  it('follow events from a cursor', async () => {
    const { api } = createDoorward(admin.options);
    await api.createTag({ name: 'before' });
    const group = await api.createGroup({ name: 'followed' });
    const stream = api.events.follow({ types: ['group.*'] }, { pollMs: 100 });
    const types: string[] = [];
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === 'group.created' && event.data.id === group.id)
        await api.deleteGroup({ id: group.id });
      if (event.type === 'group.deleted' && event.data.id === group.id) break;
    }
    expect(types).toEqual(['group.created', 'group.deleted']);
    const after = stream.cursor ?? undefined;
    const again: string[] = [];
    for await (const event of api.events.each({ types: ['group.*'], after })) again.push(event.type);
    expect(again).toContain('group.deleted');
  });

  it('throw SECRET_LOST for a replayed secret', async () => {
    const { api } = createClient({ url: service.url, token: admin.owner.token, scope: admin.scope });
    const input = { name: 'lost', roleId: roleIdOf('Project Viewer') };
    const { id } = await api.createApiKey(input, { idempotencyKey: 'once' });
    const lost = await api.createApiKey(input, { idempotencyKey: 'once' }).catch((error: unknown) => error);
    expect(lost).toMatchObject({ code: 'SECRET_LOST', entityId: id, operation: 'createApiKey' });
  });
});

it('shows no secret', async () => {
  await doorward.can(undefined, 'board:read');
  for (const text of [inspect(doorward, { depth: 9, showHidden: true }), JSON.stringify(doorward)]) {
    expect(text).not.toContain(project.options.clientSecret);
    expect(text).not.toMatch(/eyJ/);
    expect(text).toContain('[hidden]');
  }
});
