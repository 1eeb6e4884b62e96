/**
 * Deleted rows are purged after their retention, and no others: one account is purged completely, and another one with
 * rows of the same kinds stays byte for byte.
 */
import { asc, eq, sql, type SQL } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import { SYSTEM_NODE } from '../../src/schema/nodes.ts';
import { createPurge, type PurgeCounts } from '../../src/db/purge/purge.ts';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { entryHash, type ChainEntry } from '../../src/events/audit/audit-chain.ts';
import { eraseBatch } from '../../src/events/audit/erasure.ts';
import { auditLog } from '../../src/schema/events/audit-log-entry.ts';
import type { Executor } from '../../src/kernel/scoped-db.ts';
import { house, joined, type House } from '../contract/world.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { isWhole } from '../support/cases/breadth.ts';
import { unique } from '../support/app/client.ts';

const DAYS = 30;
let app: TestApp;
beforeAll(async () => {
  app = await startOwnApp();
});
afterAll(() => app.close());

const rows = <T extends object>(query: SQL): Promise<T[]> => rowsOf<T>(app.database.pool, query);
const uuids = (ids: readonly string[]): SQL =>
  sql`(${sql.join(
    ids.map((id) => sql`${id}::uuid`),
    sql`, `,
  )})`;

interface Household {
  readonly house: House;
  readonly organizationId: string;
  /** Nodes, live and deleted, and people: every row of the account contains one of these ids. */
  readonly ids: string[];
  readonly people: string[];
}

/** One row of everything that operations can create, and of tables without an operation. */
async function household(): Promise<Household> {
  const made = await house(app);
  const organizationId = made.places.organization.scope.id;
  const projectId = made.places.organizationProject.scope.id.split(':')[1] as string;
  const tagId = made.places.organizationProject.rows['Tag']?.live[0] as string;
  const roleId = made.places.organizationProject.rows['Role']?.live[0] as string;
  const managed = randomUUID();
  const organizationRole = made.places.organization.rows['Role']?.live[0] as string;
  const { pool } = app.database;
  await pool.execute(sql`insert into users (id, name, picture_url, is_managed, managed_by)
    values (${managed}::uuid, 'Managed Mo', 'https://example.test/mo', true, ${organizationId}::uuid)`);
  await pool.execute(sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id, metadata)
    values (${organizationId}::uuid, ${managed}::uuid, ${organizationRole}::uuid, ${organizationId}::uuid, '{"a":1}')`);
  await pool.execute(sql`insert into project_users (tenant_id, user_id)
    values (${projectId}::uuid, ${managed}::uuid)`);
  await pool.execute(sql`insert into project_user_roles (tenant_id, user_id, role_id, role_tenant_id)
    values (${projectId}::uuid, ${managed}::uuid, ${roleId}::uuid, ${projectId}::uuid)`);
  await pool.execute(sql`insert into user_tags (tenant_id, user_id, tag_id, to_tenant_id)
    values (${projectId}::uuid, ${managed}::uuid, ${tagId}::uuid, ${projectId}::uuid)`);
  await invite(organizationId, made.person.userId, `${unique()}@example.test`);
  const nodes = await rows<{ id: string }>(sql`
    with recursive tree as (select id from nodes where id = ${made.person.account.id}::uuid
      union all select n.id from nodes n join tree t on n.parent_id = t.id) select id from tree`);
  const managedByThem = await rows<{ id: string }>(
    sql`select id from users where managed_by in ${uuids(nodes.map(({ id }) => id))}`,
  );
  const people = [made.person.userId, ...managedByThem.map(({ id }) => id)];
  return { house: made, organizationId, people, ids: [...nodes.map(({ id }) => id), ...people] };
}

async function invite(organizationId: string, by: string, email: string, status = 'pending') {
  const id = randomUUID();
  await app.database.pool.execute(sql`insert into organization_invitations
    (id, tenant_id, email, role_id, role_tenant_id, invited_by, status, expires_at, last_sent_at)
    values (${id}::uuid, ${organizationId}::uuid, ${email}, ${roleIdOf('Organization Viewer')}::uuid,
      ${SYSTEM_NODE}::uuid, ${by}::uuid, ${status}, now() + interval '7 days', now())`);
  await app.database.pool.execute(sql`insert into organization_invitation_tokens (hash, invitation_id)
    values (${unique()}, ${id}::uuid)`);
  return id;
}

/** Deletes all of it through operations. */
async function deleteEverything({ house: { person, places }, organizationId }: Household): Promise<void> {
  const as = { token: person.token };
  await app.must('deleteOrganization', { scope: places.organization.scope, id: organizationId }, as);
  await app.must('deleteMe', {}, as);
}

const marked = ['nodes', 'users', 'accounts', 'organizations', 'projects', 'organization_invitations'];
const owned = ['api_keys', 'roles', 'groups', 'permissions', 'resources', 'tags'];

/** Backdates the deletions in these nodes and of these people. */
async function age(ids: readonly string[], milliseconds: number): Promise<void> {
  const back = sql`interval '1 millisecond' * ${milliseconds}::double precision`;
  for (const table of [...marked, ...owned]) {
    const column = sql.raw(
      owned.includes(table) || table === 'organization_invitations' ? 'tenant_id' : 'id',
    );
    await app.database.pool.execute(
      sql`update ${sql.identifier(table)} set deleted_at = deleted_at - ${back} where ${column} in ${uuids(ids)}`,
    );
  }
  await app.database.pool.execute(
    sql`update sessions set ended_at = ended_at - ${back} where user_id in ${uuids(ids)}`,
  );
}

/** Every stored row that contains one of the ids, by table. */
async function traces(ids: readonly string[]): Promise<Record<string, string[]>> {
  const tables = await rows<{ name: string }>(
    sql`select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
  );
  const match: Record<string, string[]> = {};
  for (const { name } of tables) {
    const lines = await rows<{ line: string }>(
      sql`select t::text as line from ${sql.identifier(name)} t where t::text ~ ${ids.join('|')} order by 1`,
    );
    if (lines.length > 0) match[name] = lines.map(({ line }) => line);
  }
  return match;
}

const DAY_MS = 86_400_000;

describe('a deleted account', () => {
  let going: Household;
  let staying: Household;
  beforeEach(async () => {
    [going, staying] = [await household(), await household()];
    await deleteEverything(going);
  });

  async function expectGone(): Promise<void> {
    const left = await traces(going.ids);
    expect(Object.keys(left)).toEqual(['audit_log', 'nodes']);
    const kept = left['audit_log']?.join('\n') ?? '';
    expect(kept).toContain('deleteOrganization');
    expect(kept).not.toContain(going.house.person.email);
    expect(kept).not.toContain('127.0.0.1');
  }

  test('stays complete until its last day, is purged then, and no other account changes', async () => {
    const all = [...going.ids, ...staying.ids];
    await age(going.ids, DAYS * DAY_MS - 60_000);
    const before = await traces(all);
    expect(await app.purge()).toEqual({});
    expect(await traces(all)).toEqual(before);

    const neighbour = await traces(staying.ids);
    app.logs.length = 0;
    await age(going.ids, 120_000);
    const counts = await app.purge();
    await expectGone();
    expect(await traces(staying.ids)).toEqual(neighbour);
    expect(counts).toMatchObject({ organizations: 2, accounts: 1, erased: going.people.length });
    expect(counts['users']).toBe(going.people.length);
    const reported = app.logs.filter((line) => line.includes('"purged"'));
    expect(reported).toHaveLength(1);
    expect(JSON.parse(reported[0] as string)).toMatchObject({ level: 'info', purged: counts });
    // No work is left, and no line is logged.
    expect(await app.purge()).toEqual({});
    expect(app.logs.filter((line) => line.includes('purged'))).toHaveLength(1);
    // The audit chain of the deleted nodes verifies without the purged entries.
    for (const tenantId of going.ids) await expectChain(tenantId);
  });

  test.runIf(isWhole())('is purged too when each purge is killed after some batches', async () => {
    await age(going.ids, DAYS * DAY_MS);
    const neighbour = await traces(staying.ids);
    for (let batches = 1; batches < 40; batches += 3) {
      let left = batches;
      const dying = {
        transaction: <T>(work: (tx: Executor) => Promise<T>) =>
          app.database.transaction(async (tx) => {
            const result = await work(tx);
            // As in a killed process: its last transaction is never committed, and it begins no other.
            if (left-- <= 0) throw new Error('killed');
            return result;
          }),
      };
      await purgeOn(dying).run();
    }
    await app.purge();
    await expectGone();
    expect(await traces(staying.ids)).toEqual(neighbour);
  });

  test.runIf(isWhole())('is purged once when several processes purge at once', async () => {
    await age(going.ids, DAYS * DAY_MS);
    const errors: unknown[] = [];
    const counts = await Promise.all(Array.from({ length: 4 }, () => purgeOn(app.database, errors).run()));
    expect(errors).toEqual([]);
    const sum = (table: string) => counts.reduce((all, item) => all + (item[table] ?? 0), 0);
    expect([sum('users'), sum('accounts'), sum('organizations')]).toEqual([going.people.length, 1, 2]);
    await expectGone();
  });
});

const purgeOn = (database: Parameters<typeof createPurge>[0]['database'], errors: unknown[] = []) =>
  createPurge({
    database,
    clock: app.clock,
    retention: { deletionDays: DAYS, eventsDays: DAYS },
    eraseFromLogs: eraseBatch,
    log: (error) => void errors.push(error),
    onPurged: () => undefined,
  });

async function expectChain(tenantId: string): Promise<void> {
  const entries = await app.database.pool
    .select()
    .from(auditLog)
    .where(eq(auditLog.tenantId, tenantId))
    .orderBy(asc(auditLog.sequence));
  let previous = '0'.repeat(64);
  for (const [index, row] of entries.entries()) {
    const entry = { ...row, occurredAt: row.occurredAt.toISOString() } as unknown as ChainEntry;
    const { id, sequence, occurredAt, scope, operation, event, outcome, code, reason } = entry;
    const { actor, target, changes, metadata, ipAddress, userAgent, requestId } = entry;
    const facts = { id, sequence, occurredAt, scope, operation, event, outcome, code, reason };
    const whole = { ...facts, actor, target, changes, metadata, ipAddress, userAgent, requestId };
    expect(sequence).toBe(index + 1);
    expect(entryHash(whole, previous, row.personalDigest), `entry ${sequence}`).toBe(row.hash);
    previous = row.hash;
  }
}

describe('a deleted user', () => {
  test('leaves a row without personal data while a live row refers to them', async () => {
    const [ada, bob] = [await app.person({ type: 'organization' }), await app.person({ name: 'Bob Bones' })];
    const as = { token: ada.token };
    const { id } = await app.must('createOrganization', { scope: ada.account, name: unique() }, as);
    const scope = joined('organization', id);
    const project = await app.must('createProject', { scope, name: 'P' }, as);
    await app.database.pool.execute(sql`
      insert into organization_members (tenant_id, user_id, role_id, role_tenant_id) values
      (${id}::uuid, ${bob.userId}::uuid, ${roleIdOf('Organization Admin')}::uuid, ${SYSTEM_NODE}::uuid)`);
    const his = await app.must('createApiKey', { scope: project.scope }, { token: bob.token });
    const exchange = { clientId: his.clientId, clientSecret: his.clientSecret as string, scope: his.scope };
    await app.must('exchangeApiKey', exchange);
    const sent = await invite(id, bob.userId, 'eve@example.test');
    const accepted = await invite(id, ada.userId, bob.email, 'accepted');
    const waiting = await invite(id, ada.userId, bob.email);
    const nodes = await rows<{ id: string }>(
      sql`select id from accounts where owner_id = ${bob.userId}::uuid`,
    );
    await app.must('deleteMe', {}, { token: bob.token });
    await app.must('exchangeApiKey', exchange);
    await age([bob.userId, ...nodes.map((node) => node.id)], DAYS * DAY_MS);

    expect(await app.purge()).toMatchObject({ erased: 1, passwords: 1, authentication_methods: 1 });
    expect(
      await rows(sql`select name, email, picture_url, locale from users where id = ${bob.userId}::uuid`),
    ).toEqual([{ name: '', email: null, picture_url: null, locale: null }]);
    const named = await traces([bob.email, 'Bob Bones']);
    // An open invitation belongs to the organization.
    expect(Object.keys(named)).toEqual(['organization_invitations']);
    expect(
      await rows(
        sql`select id, email from organization_invitations where tenant_id = ${id}::uuid order by email`,
      ),
    ).toEqual(
      [
        { id: waiting, email: bob.email },
        { id: accepted, email: 'erased@erased.invalid' },
        { id: sent, email: 'eve@example.test' },
      ].sort((a, b) => (a.email < b.email ? -1 : 1)),
    );
    const entries = await rows<{ salt: string | null; address: string | null; mine: boolean }>(
      sql`select salt, ip_address as address, actor->>'userId' = ${bob.userId} as mine from audit_log where tenant_id = ${project.id}::uuid`,
    );
    expect(entries.some(({ mine }) => mine)).toBe(true);
    for (const { salt, address, mine } of entries) {
      expect([salt === null, address === null]).toEqual([mine, mine]);
    }
    await expectChain(project.id);

    // The key belongs to the project and still works; the row of the user is not purged twice.
    const { accessToken } = await app.must('exchangeApiKey', exchange);
    expect((await app.call('tags', { scope: project.scope }, { token: accessToken })).status).toBe(200);
    const { items } = await app.must('apiKeys', { scope: project.scope }, as);
    expect(items).toMatchObject([{ id: his.id, userId: bob.userId }]);
    expect(await app.purge()).toEqual({});
    // The address can be used again.
    const again = await app.call('register', {
      provider: 'email',
      providerId: bob.email,
      providerData: { password: `correct horse ${unique()}` },
      type: 'personal',
    });
    expect(again.status).toBe(201);

    await app.must('deleteApiKey', { scope: project.scope, id: his.id }, as);
    await app.database.pool.execute(sql`delete from organization_invitations where id = ${sent}::uuid`);
    await age([project.id], DAYS * DAY_MS);
    expect(await app.purge()).toEqual({ api_keys: 1, users: 1 });
    expect(await rows(sql`select 1 from users where id = ${bob.userId}::uuid`)).toEqual([]);
  });

  test('is removed from events that tenants still have', async () => {
    const ada = await app.person({ type: 'organization' });
    const { id } = await app.must(
      'createOrganization',
      { scope: ada.account, name: unique() },
      { token: ada.token },
    );
    const gone = randomUUID();
    await app.database.pool
      .execute(sql`insert into users (id, name, email, is_managed, managed_by, deleted_at)
      values (${gone}::uuid, 'Mo Managed', 'mo@example.test', true, ${id}::uuid, now() - interval '31 days')`);
    const bodyOf = (data: object, changes?: object) => JSON.stringify({ id: 'evt', data, changes });
    for (const [sequence, type, body] of [
      [
        101,
        'user.updated',
        bodyOf({ id: gone, name: 'Mo Managed' }, { name: { from: 'M', to: 'Mo Managed' } }),
      ],
      [102, 'user.updated', bodyOf({ id: ada.userId, name: 'Ada' })],
      [103, 'invitation.created', bodyOf({ id: gone, email: 'mo@example.test' })],
      [104, 'invitation.created', bodyOf({ id: gone, email: 'eve@example.test' })],
    ] as const) {
      await app.database.pool
        .execute(sql`insert into events (id, tenant_id, sequence, type, occurred_at, body)
        values (gen_random_uuid(), ${id}::uuid, ${sequence}, ${type}, now(), ${body}::jsonb)`);
    }
    await app.purge();
    const left = await rows<{ body: unknown }>(
      sql`select body from events where tenant_id = ${id}::uuid and sequence > 100 order by sequence`,
    );
    expect(left.map(({ body }) => body)).toEqual([
      { id: 'evt', data: { id: gone } },
      { id: 'evt', data: { id: ada.userId, name: 'Ada' } },
      { id: 'evt', data: { id: gone, email: 'erased@erased.invalid' } },
      { id: 'evt', data: { id: gone, email: 'eve@example.test' } },
    ]);
    expect(await rows(sql`select 1 from users where id = ${gone}::uuid`)).toEqual([]);
  });
});

describe('in a live tenant', () => {
  test('deleted rows are purged with their links, and rows that are still referred to stay', async () => {
    const ada = await app.person({ type: 'organization' });
    const as = { token: ada.token };
    const { id } = await app.must('createOrganization', { scope: ada.account, name: unique() }, as);
    const scope = joined('organization', id);
    const tag = await app.must('createTag', { scope, name: 't' }, as);
    const group = await app.must('createGroup', { scope, name: 'G', tagIds: [tag.id] }, as);
    const role = await app.must(
      'createRole',
      { scope, name: 'R', groupIds: [group.id], tagIds: [tag.id] },
      as,
    );
    const live = await app.must(
      'createRole',
      { scope, name: 'L', groupIds: [group.id], tagIds: [tag.id] },
      as,
    );
    const old = await invite(id, ada.userId, 'eve@example.test', 'revoked');
    await app.database.pool.execute(sql`update organization_invitations
      set role_id = ${role.id}::uuid, role_tenant_id = ${id}::uuid where id = ${old}::uuid`);
    await app.must('deleteRole', { scope, id: role.id }, as);
    await app.must('deleteGroup', { scope, id: group.id }, as);
    await app.must('deleteTag', { scope, id: tag.id }, as);
    expect(await app.purge()).toEqual({});
    await age([id], DAYS * DAY_MS);
    expect(await app.purge()).toEqual({ groups: 1, tags: 1, role_groups: 2, role_tags: 2, group_tags: 1 });
    expect((await app.must('role', { scope, id: live.id }, as)).name).toBe('L');
    // The old invitation still names its role; when it is purged, the role is purged too.
    expect(await rows(sql`select name from roles where id = ${role.id}::uuid`)).toEqual([{ name: 'R' }]);
    await app.database.pool.execute(sql`delete from organization_invitations where id = ${old}::uuid`);
    expect(await app.purge()).toEqual({ roles: 1 });
  });

  test('built-in rows stay, also those that this version does not declare', async () => {
    const existing = await rows<{ id: string }>(
      sql`select id from tags where tenant_id = ${SYSTEM_NODE}::uuid`,
    );
    expect(existing).toEqual([]);
    const id = randomUUID();
    await app.database.pool.execute(sql`insert into groups (id, tenant_id, name, is_system, deleted_at)
      values (${id}::uuid, ${SYSTEM_NODE}::uuid, 'Former', true, now() - interval '400 days')`);
    expect(await app.purge()).toEqual({});
    expect(await rows(sql`select name from groups where id = ${id}::uuid`)).toEqual([{ name: 'Former' }]);
  });

  test('expired rows are purged: tokens, sessions, events, stored responses', async () => {
    const ada = await app.person();
    const other = await app.person({ verified: false });
    const of = (userId: string): Promise<PurgeCounts> =>
      rows<{ table: string; count: number }>(sql`
        select 'sessions' as table, count(*)::int from sessions where user_id = ${userId}::uuid
        union all select 'one_time_tokens', count(*)::int from one_time_tokens where user_id = ${userId}::uuid
        union all select 'idempotency_keys', count(*)::int from idempotency_keys where credential = ${userId}
        union all select 'events', count(*)::int from events e join accounts a on a.id = e.tenant_id
          where a.owner_id = ${userId}::uuid`).then((all) =>
        Object.fromEntries(all.map(({ table, count }) => [table, count])),
      );
    for (const { userId } of [ada, other]) {
      await app.database.pool.execute(sql`insert into idempotency_keys
        (credential, operation, key, input_hash, status, answer, created_at)
        values (${userId}, 'createTag', 'k', 'h', 201, '{}', now())`);
    }
    const before = await of(other.userId);
    expect(before).toMatchObject({ sessions: 1, one_time_tokens: 1, idempotency_keys: 1 });
    await app.purge();
    expect(await of(other.userId)).toEqual(before);
    const back = sql`interval '31 days'`;
    await app.database.pool.execute(
      sql`update sessions set ended_at = now() - ${back} where user_id = ${other.userId}::uuid`,
    );
    await app.database.pool.execute(
      sql`update one_time_tokens set expires_at = now() where user_id = ${other.userId}::uuid`,
    );
    await app.database.pool.execute(
      sql`update idempotency_keys set created_at = now() - interval '25 hours' where credential = ${other.userId}`,
    );
    await app.database.pool.execute(sql`update events set occurred_at = now() - ${back}
      where tenant_id in (select id from accounts where owner_id = ${other.userId}::uuid)`);
    const neighbour = await of(ada.userId);
    await app.purge();
    expect(await of(other.userId)).toEqual({
      sessions: 0,
      one_time_tokens: 0,
      idempotency_keys: 0,
      events: 0,
    });
    expect(await of(ada.userId)).toEqual(neighbour);
    // The feed continues after the purged events.
    const [node] = await rows<{ last: number }>(
      sql`select event_sequence::int as last from nodes n join accounts a on a.id = n.id where a.owner_id = ${other.userId}::uuid`,
    );
    expect(node?.last).toBeGreaterThan(0);
  });
});
