import { sql } from 'drizzle-orm';
import type { JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { AuditLogEntry, auditLog } from '../../schema/events/audit-log-entry.ts';
import { pgCode } from '../../db/statements/pg-error.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { projector } from '../../kernel/output/projector.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { entryHash, type ChainEntry, type Sealing } from './audit-chain.ts';
import { checkpointReader } from './read-checkpoint.ts';
import { verifyExport } from '../../../../node/src/audit.ts';

/** What AUDIT_RETENTION_DAYS deletes and keeps, and that the remaining log is proven from its first line. */
let app: TestApp;
let owner: Person;
let project: { readonly id: string; readonly scope: ScopeRef };

beforeAll(async () => {
  app = await startOwnApp({ AUDIT_RETENTION_DAYS: '40', SECURITY_RATE_LIMIT_EXPORT_MAX: '100' });
  owner = await app.person({ name: 'Ada' });
  project = await app.must('createProject', { scope: owner.account, name: 'P' }, { token: owner.token });
});
afterAll(() => app.close());

type Sealed = ChainEntry & Sealing;
const DAY_MS = 86_400_000;
const published = projector(AuditLogEntry.schema) as (row: unknown) => Sealed;

const tag = async (name: string) =>
  app.must('createTag', { scope: project.scope, name }, { token: await token() });
const stored = async () =>
  (
    await app.owner
      .select()
      .from(auditLog)
      .where(sql`tenant_id = ${project.id}`)
      .orderBy(auditLog.sequence)
  ).map((row) => published(row));

/** Moves entries of the last day into the past and recomputes their hashes. */
async function past(days: number): Promise<void> {
  await app.owner.execute(sql`alter table audit_log disable trigger user`);
  let previous: string | null = null;
  for (const { hash: _, previousHash, personalDigest, salt: __, ...entry } of await stored()) {
    const at = new Date(entry.occurredAt);
    const occurredAt = at.getTime() > Date.now() - DAY_MS ? new Date(at.getTime() - days * DAY_MS) : at;
    previous ??= previousHash;
    const moved = { ...entry, occurredAt: occurredAt.toISOString() };
    const hash = entryHash(moved, previous, personalDigest);
    await app.owner.execute(
      sql`update audit_log set occurred_at = ${occurredAt.toISOString()}::timestamptz, previous_hash = ${previous}, hash = ${hash}
        where id = ${entry.id}::uuid`,
    );
    previous = hash;
  }
  await app.owner.execute(sql`update nodes set audit_hash = ${previous} where id = ${project.id}`);
  await app.owner.execute(sql`alter table audit_log enable trigger user`);
}

/** Adds a checkpoint of the current log, with an age of this many days. */
async function signed(days: number): Promise<void> {
  app.clock.advance(DAY_MS + 1000);
  expect(await app.app.signAuditLogs()).toBeGreaterThan(0);
  await past(days);
}

const token = async () =>
  (
    (await app.must('login', {
      provider: 'email',
      providerId: owner.email,
      providerData: { password: owner.password },
    })) as { accessToken: string }
  ).accessToken;
const exported = async (): Promise<string[]> =>
  (await app.raw('exportAuditLogs', { scope: project.scope }, { token: await token() })).body
    .split('\n')
    .slice(0, -1);
const verdict = async (lines: readonly string[]) =>
  verifyExport(lines, {
    filtered: false,
    end: 'own entry',
    readCheckpoint: checkpointReader(
      (await app.server.inject('/.well-known/audit-jwks.json')).json<JSONWebKeySet>(),
    ),
  });

const refused = (statement: ReturnType<typeof sql>, on = app.owner) =>
  on.execute(statement).then(
    () => 'done',
    (error: unknown) => pgCode(error),
  );

it('cuts up to the entry that an old enough checkpoint signed, and the remaining log is proven', async () => {
  await tag('A');
  await past(90);
  expect(await app.app.cutAuditLogs()).toBe(0);
  await signed(60);
  await tag('B');
  await past(50);
  await tag('C');
  // Entries 1 and 2 are signed by entry 3. Entry 4 is old, but no old checkpoint covers it.
  expect((await stored()).map(({ operation }) => operation)).toEqual([
    'createProject',
    'createTag',
    'auditCheckpoint',
    'createTag',
    'createTag',
  ]);
  expect(await app.app.cutAuditLogs()).toBe(2);
  expect(await app.app.cutAuditLogs()).toBe(0);
  expect((await stored()).map(({ sequence }) => sequence)).toEqual([3, 4, 5]);

  const lines = await exported();
  const { fault, chains } = await verdict(lines);
  expect(fault).toBeNull();
  expect(chains).toMatchObject([{ first: 3, last: 6, signedUpTo: 2, endProven: true }]);
  const list = await app.must('auditLogs', { scope: project.scope }, { token: await token() });
  expect(list.totalCount).toBe(4);
  expect(app.logs.join()).toContain('"message":"audit logs cut","entries":2');

  // A log that starts elsewhere than at the signed entry is detected.
  const [first = '', ...rest] = lines;
  const forged = { ...(JSON.parse(first) as Sealed), previousHash: 'a'.repeat(64) };
  const { hash: _, previousHash, personalDigest, salt: __, ...entry } = forged;
  forged.hash = entryHash(entry, previousHash, personalDigest);
  expect((await verdict([JSON.stringify(forged), ...rest])).fault).toMatchObject({
    line: 1,
    kind: 'bad checkpoint',
  });
});

it('continues with the next checkpoint once it is old enough', async () => {
  await signed(20);
  expect(await app.app.cutAuditLogs()).toBe(0);
  const [first] = await stored();
  expect(first).toMatchObject({ sequence: 3 });
});

describe('the database rejects', () => {
  const checkpointed = () =>
    rowsOf<{ up_to: number }>(
      app.owner,
      sql`select (metadata->>'sequence')::int as up_to from audit_log
        where tenant_id = ${project.id} and operation = 'auditCheckpoint' order by sequence desc limit 1`,
    );

  it('a cut at a checkpoint that is too recent, at none, or of another log', async () => {
    const [young] = await checkpointed();
    for (const upTo of [young?.up_to ?? 0, 4, 1_000_000])
      expect(await refused(sql`select cut_audit_log(${project.id}::uuid, ${upTo}::bigint, 1000)`)).toBe(
        'DW002',
      );
    expect(await refused(sql`select cut_audit_log(${owner.account.id}::uuid, 2, 1000)`)).toBe('DW002');
  });

  it('a cut at a checkpoint that does not match the log', async () => {
    const rows = await stored();
    const [first, second] = rows as [Sealed, Sealed];
    const last = rows.at(-1) as Sealed;
    /** As if a statement of the service had inserted it long ago. */
    const forged = (metadata: { sequence: number; hash: string }, previousHash: string) => sql`
      insert into audit_log (id, tenant_id, sequence, occurred_at, scope, operation, outcome, actor, metadata, request_id,
        previous_hash, hash, personal_digest)
      values (gen_random_uuid(), ${project.id}::uuid, ${last.sequence + 1}, now() - interval '90 days', '{}',
        'auditCheckpoint', 'success', '{}', ${JSON.stringify(metadata)}::jsonb, 'r', ${previousHash},
        repeat('a', 64), '')`;
    const cut = sql`select cut_audit_log(${project.id}::uuid, ${second.sequence}::bigint, 1000)`;
    const attempts = [
      forged({ sequence: second.sequence, hash: first.hash }, last.hash),
      forged({ sequence: second.sequence, hash: second.hash }, first.hash),
    ];
    for (const insert of attempts) {
      await app.owner.execute(sql`alter table audit_log disable trigger user`);
      await app.owner.execute(insert);
      await app.owner.execute(sql`alter table audit_log enable trigger user`);
      expect(await refused(cut)).toBe('DW002');
      await app.owner.execute(sql`alter table audit_log disable trigger user`);
      await app.owner.execute(sql`delete from audit_log where hash = repeat('a', 64)`);
      await app.owner.execute(sql`alter table audit_log enable trigger user`);
    }
    expect(await stored()).toEqual(rows);
  });

  it.each(["- interval '2 minutes'", "+ interval '2 minutes'"])(
    'an entry of another time than now, %s',
    async (apart) => {
      const insert = (
        time: string,
      ) => sql`insert into audit_log (id, tenant_id, sequence, occurred_at, scope, operation,
          outcome, actor, metadata, request_id, previous_hash, hash, personal_digest)
        values (gen_random_uuid(), ${owner.account.id}::uuid, 1000000, ${sql.raw(time)}, '{}', 'made', 'success', '{}', '{}',
          'r', '', '', '')`;
      expect(await refused(insert(`now() ${apart}`), app.database.pool)).toBe('DW002');
    },
  );

  it('a direct deletion of entries that are too recent, whatever settings precede it', async () => {
    const [row] = await rowsOf<{ id: string }>(
      app.owner,
      sql`select id from audit_log where tenant_id = ${project.id} order by sequence desc limit 1`,
    );
    expect(await refused(sql`delete from audit_log`)).toBe('DW002');
    const all = await stored();
    const attempt = app.owner.transaction(async (tx) => {
      await tx.execute(sql`select set_config('doorward.cut_audit_log', ${project.id}, true)`);
      await tx.execute(sql`delete from audit_log where id = ${row?.id}::uuid`);
    });
    expect(
      await attempt.then(
        () => 'done',
        (error: unknown) => pgCode(error),
      ),
    ).toBe('DW002');
    expect(await stored()).toEqual(all);
  });

  it.runIf(inject('postgresUrl'))(
    'another retention, or another function, by the role of the service',
    async () => {
      for (const statement of [
        sql`create or replace function audit_retention_days() returns integer language sql stable as 'select 1'`,
        sql`drop function cut_audit_log(uuid, bigint, integer)`,
        sql`delete from audit_log where sequence = 1`,
      ])
        expect(await refused(statement, app.database.pool)).toBe('42501');
      // A table that the service creates is not mistaken for the log.
      await app.database.pool
        .execute(sql`create temp table audit_log (like public.audit_log)`)
        .catch(() => undefined);
      expect(
        await refused(
          sql`select public.cut_audit_log(${project.id}::uuid, 1000000, 1000)`,
          app.database.pool,
        ),
      ).toBe('DW002');
    },
  );

  it.runIf(inject('postgresUrl'))('a cut by any other role than the service', async () => {
    const cut = sql`select public.cut_audit_log(${project.id}::uuid, 1000000, 1000)`;
    const asTenant = app.owner.transaction(async (tx) => {
      await tx.execute(sql`set local role doorward_tenant`);
      await tx.execute(cut);
    });
    expect(
      await asTenant.then(
        () => 'done',
        (error: unknown) => pgCode(error),
      ),
    ).toBe('42501');
    const [row] = await rowsOf<{ may: boolean }>(
      app.owner,
      sql`select has_function_privilege('public', 'cut_audit_log(uuid, bigint, integer)', 'execute') as may`,
    );
    expect(row?.may).toBe(false);
    expect(await refused(cut, app.database.pool)).toBe('DW002');
  });

  it('any cut when entries are kept forever', async () => {
    const forever = await startOwnApp({}, app);
    expect(await forever.app.cutAuditLogs()).toBe(0);
    expect(await refused(sql`select cut_audit_log(${project.id}::uuid, 2, 1000)`, forever.owner)).toBe(
      'DW002',
    );
    await forever.close();
  });
});
