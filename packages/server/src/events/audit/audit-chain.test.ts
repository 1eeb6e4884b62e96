import { asc, eq, sql, type SQL } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { entryHash, personalDigest, type ChainEntry } from './audit-chain.ts';
import { canonicalJson } from '../../kernel/output/canonical-json.ts';
import { pgCode } from '../../db/statements/pg-error.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

/** The stored rows in the form of an export. */
async function entriesOf(tenantId: string) {
  const rows = await app.database.pool
    .select()
    .from(auditLog)
    .where(eq(auditLog.tenantId, tenantId))
    .orderBy(asc(auditLog.sequence));
  return rows.map((row) => ({
    stored: row,
    entry: {
      id: row.id,
      sequence: row.sequence,
      occurredAt: row.occurredAt.toISOString(),
      scope: row.scope,
      operation: row.operation,
      event: row.event,
      outcome: row.outcome,
      code: row.code,
      reason: row.reason,
      actor: row.actor,
      target: row.target,
      changes: row.changes,
      metadata: row.metadata,
      ipAddress: row.ipAddress,
      userAgent: row.userAgent,
      requestId: row.requestId,
    } as ChainEntry,
  }));
}

it('is a gapless chain that can be recomputed from the stored rows', async () => {
  const person = await app.person();
  const as = { token: person.token };
  const { id, scope } = await app.must('createProject', { scope: person.account, name: 'Chain' }, as);
  const metadata = { n: 1.5, text: 'ü "quoted"', nested: { b: [true, null], a: 1e-7 } };
  const tag = await app.must('createTag', { scope, name: 'x', metadata }, as);
  await app.must('updateTag', { scope, id: tag.id, name: 'y', metadata: { z: 0.1 } }, as);
  const expiresAt = '2030-01-02T03:04:05.678Z';
  const key = await app.must('createApiKey', { scope, expiresAt }, as);
  const exchange = { clientId: key.clientId, clientSecret: key.clientSecret as string, scope: key.scope };
  await app.must('exchangeApiKey', exchange);
  await app.call('exchangeApiKey', { ...exchange, clientSecret: 'wrong' });
  await app.must('revokeApiKey', { scope, id: key.id }, as);

  const entries = await entriesOf(id);
  expect(entries.map(({ entry }) => [entry.sequence, entry.operation, entry.outcome])).toEqual([
    [1, 'createProject', 'success'],
    [2, 'createTag', 'success'],
    [3, 'updateTag', 'success'],
    [4, 'createApiKey', 'success'],
    [5, 'exchangeApiKey', 'success'],
    [6, 'exchangeApiKey', 'failed'],
    [7, 'revokeApiKey', 'success'],
  ]);
  let previous = '0'.repeat(64);
  for (const { entry, stored } of entries) {
    expect(stored.previousHash).toBe(previous);
    expect(personalDigest(entry, stored.salt as string)).toBe(stored.personalDigest);
    expect(entryHash(entry, previous, stored.personalDigest)).toBe(stored.hash);
    previous = stored.hash;
  }
  const changed = { ...(entries[1]?.entry as ChainEntry), operation: 'deleteTag' };
  expect(entryHash(changed, changed.id, '')).not.toBe(entries[1]?.stored.hash);

  const emitted = await app.database.pool
    .select({ sequence: events.sequence, type: events.type })
    .from(events)
    .where(eq(events.tenantId, id))
    .orderBy(asc(events.sequence));
  expect(emitted).toEqual([
    { sequence: 1, type: 'project.created' },
    { sequence: 2, type: 'api_key.created' },
    { sequence: 3, type: 'api_key.exchanged' },
    { sequence: 4, type: 'api_key.revoked' },
  ]);
});

it('writes nothing for a patch without changes, and no secrets', async () => {
  const person = await app.person();
  const as = { token: person.token };
  const { id, scope } = await app.must('createProject', { scope: person.account, name: 'Quiet' }, as);
  const tag = await app.must('createTag', { scope, name: 'same' }, as);
  await app.must('updateTag', { scope, id: tag.id, name: 'same' }, as);
  const key = await app.must('createApiKey', { scope }, as);
  const entries = await entriesOf(id);
  expect(entries.map(({ entry }) => entry.operation)).toEqual(['createProject', 'createTag', 'createApiKey']);
  const kept = canonicalJson(entries.map(({ stored }) => stored)) + JSON.stringify(app.logs);
  for (const secret of [key.clientSecret as string, person.password, person.token, person.refreshToken]) {
    expect(kept).not.toContain(secret);
  }
});

it('is protected by the database: only an erasure can change an entry', async () => {
  const person = await app.person();
  const tenant = person.account.id;
  const before = await entriesOf(tenant);
  // Triggers restrict even the table owner; the service lacks the privilege (test/security/audit-rights.test.ts).
  const refusal = async (statement: SQL) =>
    app.owner.execute(statement).then(
      () => 'done',
      (error: unknown) => pgCode(error),
    );
  const erased = sql`salt = null, ip_address = null, user_agent = null, actor = actor || '{"name": null}'`;
  const where = sql`where tenant_id = ${tenant}::uuid`;
  for (const statement of [
    sql`delete from audit_log ${where}`,
    sql`truncate audit_log`,
    sql`update audit_log set operation = 'x' ${where}`,
    sql`update audit_log set user_agent = 'x' ${where}`,
    sql`update audit_log set salt = null ${where}`,
    // Disguised as an erasure.
    sql`update audit_log set hash = repeat('0', 64), ${erased} ${where}`,
    sql`update audit_log set changes = '{"a": 1}', ${erased} ${where}`,
    sql`update audit_log set salt = null, ip_address = null, user_agent = null, actor = '{"name": null}' ${where}`,
  ]) {
    expect(await refusal(statement)).toBe('DW002');
  }
  expect(await entriesOf(tenant)).toEqual(before);
});
