/** A response is sent after the commit: when it arrives, another connection already reads what it describes. */
import { sql } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openPostgres, type Database } from '../../src/db/connection/open.ts';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import type { Person } from '../support/app/client.ts';

const REPLIES = Number(process.env['COMMIT_REPLIES'] ?? 40);
const SIDE_BY_SIDE = 8;

describe.runIf(inject('postgresUrl'))('on PostgreSQL', () => {
  let app: TestApp;
  let beside: Database;
  let ada: Person;
  beforeAll(async () => {
    app = await startOwnApp();
    ada = await app.person();
    beside = openPostgres({
      url: app.postgres?.url ?? '',
      // One connection for each writer, so that no reader waits before it looks.
      poolMax: SIDE_BY_SIDE,
      acquireTimeoutMs: 5000,
      maxWaitMs: 5000,
      statementTimeoutMs: 30_000,
      onIdleError: () => undefined,
    });
  });
  afterAll(async () => {
    await beside.close();
    await app.close();
  });

  /** Whether row and audit entry are visible to other connections. */
  async function isCommitted(table: string, id: string, requestId: string): Promise<boolean> {
    const [row] = await rowsOf<{ there: boolean }>(
      beside.pool,
      sql`select (${table} = '' or exists (select from ${sql.identifier(table || 'tags')} where id = ${id}::uuid))
        and exists (select from audit_log where request_id = ${requestId}) as there`,
    );
    return row?.there === true;
  }

  test(`0 of ${REPLIES} were sent before it`, { timeout: 60_000 + REPLIES * 200 }, async () => {
    const as = { token: ada.token };
    const { scope } = await app.must('createProject', { scope: ada.account, name: 'P' }, as);
    const key = await app.must('createApiKey', { scope, name: 'K' }, as);
    const secret = { clientId: key.clientId, clientSecret: key.clientSecret ?? '', scope: key.scope };
    let early = 0;
    let replies = 0;
    const worker = async (): Promise<void> => {
      while (replies < REPLIES) {
        const turn = replies++;
        const headers = { 'x-request-id': randomUUID() };
        // A plain change, and one in a group commit.
        const { status, data } =
          turn % 2
            ? await app.raw('createTag', { scope, name: `tag ${turn}` }, { ...as, headers })
            : await app.raw('exchangeApiKey', secret, { headers });
        const table = turn % 2 ? 'tags' : '';
        const id = turn % 2 ? (data as { id: string }).id : randomUUID();
        if (status >= 400) throw new Error(`answered ${status}`);
        if (!(await isCommitted(table, id, headers['x-request-id']))) early++;
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
    process.stdout.write(`reply before commit: ${early} of ${replies}\n`);
    expect(early).toBe(0);
    // A row that does not exist would be detected.
    expect(await isCommitted('tags', randomUUID(), randomUUID())).toBe(false);
  });
});
