import { eq, sql } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Answer, CallOptions, Person } from '../../../test/support/app/client.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { nodes } from '../../schema/nodes.ts';
import { events } from '../../schema/events/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Reading the feed: what is in it, for whom, and that nothing is ever left out or repeated. */
interface Item {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly timestamp: string;
  readonly scope: ScopeRef;
  readonly data: { readonly id: string };
  readonly changes?: unknown;
}
interface Page {
  readonly items: Item[];
  readonly totalCount: null;
  readonly hasNextPage: boolean;
  readonly nextCursor: string;
}

let app: TestApp;
let owner: Person;
let as: { token: string };
let organization: ScopeRef;
let first: ScopeRef;
let second: ScopeRef;

beforeAll(async () => {
  app = await startOwnApp();
  owner = await app.person({ type: 'organization' });
  as = { token: owner.token };
  const { id } = await app.must('createOrganization', { scope: owner.account, name: 'O' }, as);
  organization = { tenant: 'organization', id };
  first = (await app.must('createProject', { scope: organization, name: 'First' }, as)).scope;
  second = (await app.must('createProject', { scope: organization, name: 'Second' }, as)).scope;
});
afterAll(() => app.close());

const ask = (input: object, options: CallOptions = {}): Promise<Answer> =>
  app.raw('events', input, { ...as, ...options });
async function page(input: object, options: CallOptions = {}): Promise<Page> {
  const answer = await ask(input, options);
  expect(answer.ok, answer.body).toBe(true);
  return answer.data as Page;
}
/** Reads all pages from here on. Returns their items and the last cursor. */
async function drained(input: { after?: string; [name: string]: unknown }) {
  const items: Item[] = [];
  let after = input.after;
  for (;;) {
    const next: Page = await page({ ...input, ...(after === undefined ? {} : { after }) });
    items.push(...next.items);
    after = next.nextCursor;
    if (!next.hasNextPage) return { items, after };
  }
}
const typesOf = (items: readonly Item[]) => items.map(({ type }) => type);
const nodeOf = ({ id }: ScopeRef) => id.split(':').at(-1) as string;

/** Writes an event that happened at this time but is committed now, as by a slow transaction. */
async function late(scope: ScopeRef, occurredAt: Date): Promise<string> {
  const id = randomUUID();
  await app.database.transaction(async (tx) => {
    const [node] = await tx
      .update(nodes)
      .set({ eventSequence: sql`${nodes.eventSequence} + 1` })
      .where(eq(nodes.id, nodeOf(scope)))
      .returning();
    const sequence = node?.eventSequence ?? 0;
    const actor = { type: 'system', id: null, userId: null };
    const data = { id: randomUUID() };
    const type = 'group.deleted';
    const timestamp = occurredAt.toISOString();
    const body = {
      id: `evt_${id}`,
      type,
      version: 1,
      timestamp,
      sequence,
      scope,
      actor,
      requestId: 'r',
      data,
    };
    await tx.insert(events).values({ id, tenantId: nodeOf(scope), sequence, type, occurredAt, body });
  });
  return `evt_${id}`;
}

describe.each(storyTransports(import.meta))('over %s', (via) => {
  it('answers envelopes in the order of their sequence, and always where to go on', async () => {
    const { scope } = await app.must('createProject', { scope: owner.account, name: `P ${via}` }, as);
    const role = await app.must('createRole', { scope, name: 'R' }, as);
    await app.must('updateRole', { scope, id: role.id, name: 'S' }, as);
    const { items, nextCursor, ...rest } = await page({ scope }, { via });
    expect(rest).toEqual({ totalCount: null, hasNextPage: false });
    expect(typesOf(items)).toEqual(['project.created', 'role.created', 'role.updated']);
    const [stored] = await app.database.pool
      .select({ body: events.body })
      .from(events)
      .where(eq(events.type, 'role.updated'))
      .orderBy(sql`occurred_at desc`)
      .limit(1);
    const { truncated: _, ...last } = items[2] as Item & { truncated?: null };
    // GraphQL returns null for members that REST leaves out.
    const { impersonatorId, ...actor } = (last as unknown as { actor: Record<string, unknown> }).actor;
    expect(impersonatorId ?? null).toBeNull();
    expect({ ...last, actor }).toEqual(stored?.body);
    expect(last).toMatchObject({
      sequence: 3,
      scope,
      actor: { type: 'user', id: owner.userId },
      changes: { name: { from: 'R', to: 'S' } },
    });

    const empty = await page({ scope, after: nextCursor }, { via });
    expect(empty).toMatchObject({ items: [], hasNextPage: false });
    await app.must('deleteRole', { scope, id: role.id }, as);
    for (const after of [nextCursor, empty.nextCursor]) {
      expect(typesOf((await page({ scope, after }, { via })).items)).toEqual(['role.deleted']);
    }
    const begun = await page({ scope, limit: 3 }, { via });
    expect(begun.hasNextPage).toBe(true);
    const ended = await page({ scope, limit: 3, after: begun.nextCursor }, { via });
    expect([typesOf(ended.items), ended.hasNextPage]).toEqual([['role.deleted'], false]);
  });

  it('is narrowed to types', async () => {
    const all = { scope: organization, includeProjects: true };
    const seen = async (types: string[]) =>
      [...new Set(typesOf((await page({ ...all, types }, { via })).items))].sort();
    const ofProjects = await seen(['project.*']);
    expect(ofProjects).toContain('project.created');
    expect(ofProjects.filter((name) => !name.startsWith('project.'))).toEqual([]);
    expect(await seen(['organization.created', 'project.created'])).toEqual([
      'organization.created',
      'project.created',
    ]);
    expect(await seen(['session.*'])).toEqual([]);
    for (const types of [['project'], ['project.invented'], ['invented.*'], ['*'], ['projec_.*']]) {
      expect((await ask({ ...all, types }, { via })).details).toMatchObject([{ code: 'enum' }]);
    }
    const { nextCursor } = await page({ ...all, types: ['role.*'] }, { via });
    expect((await ask({ ...all, after: nextCursor }, { via })).code).toBe('INVALID_CURSOR');
  });

  it('adds the projects of an organization when asked, deleted ones too', async () => {
    const own = (await page({ scope: organization }, { via })).items;
    expect(own.every(({ scope }) => scope.tenant === 'organization')).toBe(true);
    const begun = await drained({ scope: organization, includeProjects: true });
    expect(new Set(begun.items.map(({ scope }) => scope.id))).toContain(first.id);
    const { id, scope } = await app.must('createProject', { scope: organization, name: 'Short' }, as);
    await app.must('deleteProject', { scope: organization, id }, as);
    const { items } = await page({ scope: organization, includeProjects: true, after: begun.after }, { via });
    expect(items.map((item) => [item.type, item.scope.id])).toEqual([
      ['project.created', scope.id],
      ['project.deleted', scope.id],
    ]);
    expect((await ask({ scope: first, includeProjects: true }, { via })).details).toMatchObject([
      { path: 'includeProjects', code: 'not_allowed' },
    ]);
  });

  it('is read with the permission only, and a cursor where it was made', async () => {
    const stranger = await app.person();
    const { nextCursor: after } = await page({ scope: first }, { via });
    for (const input of [
      { scope: second, after },
      { scope: first, after: `${after}A` },
      { scope: organization, after },
    ]) {
      expect((await ask(input, { via })).code).toBe('INVALID_CURSOR');
    }
    expect(await ask({ scope: first }, { via, token: stranger.token })).toMatchObject({
      reason: 'INVALID_SCOPE',
    });
    for (const [name, code] of [
      ['Project Admin', 'INVALID_CURSOR'],
      ['Project Viewer', 'FORBIDDEN'],
    ] as const) {
      const key = await app.must('createApiKey', { scope: first, roleId: roleIdOf(name) }, as);
      const { accessToken } = await app.must('exchangeApiKey', {
        clientId: key.clientId,
        clientSecret: key.clientSecret as string,
        scope: key.scope,
      });
      expect((await ask({ scope: first, after }, { via, token: accessToken })).code).toBe(code);
    }
  });
});

it('keeps what is opt-in, and no ping', async () => {
  const { scope } = await app.must('createProject', { scope: owner.account, name: 'Opt-in' }, as);
  const key = await app.must('createApiKey', { scope }, as);
  const { clientId, clientSecret } = key;
  await app.must('exchangeApiKey', { clientId, clientSecret: clientSecret as string, scope: key.scope });
  await late(scope, new Date());
  await app.database.pool
    .update(events)
    .set({ type: 'webhook.ping' })
    .where(sql`tenant_id = ${nodeOf(scope)}::uuid and type = 'group.deleted'`);
  const { items } = await drained({ scope });
  expect(typesOf(items)).toEqual(['project.created', 'api_key.created', 'api_key.exchanged']);
});

it('contains an event that happened before others and was committed after them', async () => {
  const all = { scope: organization, includeProjects: true };
  const before = await drained(all);
  await app.must('createGroup', { scope: first, name: 'Later' }, as);
  const after = await drained({ ...all, after: before.after });
  expect(typesOf(after.items)).toEqual(['group.created']);
  const past = new Date(new Date((after.items[0] as Item).timestamp).getTime() - 60_000);
  const id = await late(second, past);
  const next = await drained({ ...all, after: after.after });
  expect(next.items.map((item) => item.id)).toEqual([id]);
  // A clock that went back changes nothing: within a scope the sequence alone counts.
  const own = (await drained({ ...all, limit: 1 })).items.filter(({ scope }) => scope.id === second.id);
  expect(own.map(({ sequence }) => sequence)).toEqual(own.map((_, index) => index + 1));
});

it('leaves out and repeats nothing while others write', { tags: 'race' }, async () => {
  const all = { scope: organization, includeProjects: true };
  const { after: start } = await drained(all);
  const writers = [organization, first, second, first, second].map(async (scope, writer) => {
    for (let n = 0; n < 6; n++) await app.must('createGroup', { scope, name: `G ${writer} ${n}` }, as);
  });
  let writing = true;
  const written = Promise.all(writers).finally(() => (writing = false));
  const seen: Item[] = [];
  let after = start;
  while (writing) {
    const next = await page({ ...all, after, limit: 3 });
    seen.push(...next.items);
    after = next.nextCursor;
    // Everything here is in one process: let the writers have their turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await written;
  seen.push(...(await drained({ ...all, after })).items);
  expect(seen).toHaveLength(30);
  expect(new Set(seen.map(({ id }) => id)).size).toBe(30);
  for (const scope of [organization, first, second]) {
    const own = seen.filter((item) => item.scope.id === scope.id).map(({ sequence }) => sequence);
    expect(own).toEqual(own.map((_, index) => (own[0] as number) + index));
  }
});

it('knows a cursor as long as what follows it is kept', async () => {
  const signIn = async () => {
    const { email: providerId, password } = owner;
    const input = { provider: 'email' as const, providerId, providerData: { password } };
    as = { token: (await app.must('login', input)).accessToken };
  };
  const day = 86_400_000;
  const begun = await page({ scope: organization, limit: 1 });
  app.clock.advance(29 * day);
  await signIn();
  const { nextCursor } = await page({ scope: organization, limit: 1, after: begun.nextCursor });
  app.clock.advance(2 * day);
  await signIn();
  // The first cursor has expired, and not all events after the second one are retained.
  for (const after of [begun.nextCursor, nextCursor]) {
    expect((await ask({ scope: organization, after })).code).toBe('INVALID_CURSOR');
  }
  expect((await page({ scope: organization })).items).toEqual([]);
});
