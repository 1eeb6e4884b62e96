import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isFraming, startApp, type TestApp } from '../../../test/support/app/app.ts';
import { isWhole } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { nodes } from '../../schema/nodes.ts';
import { eraseBatch } from '../../events/audit/erasure.ts';
import { sealEntry, type ChainEntry } from '../../events/audit/audit-chain.ts';
import { verifyExport, type ExportFault, type VerifyExportOptions } from '../../../../node/src/audit.ts';
import type { ResolvedScope, ScopeRef } from '../../kernel/scope.ts';
import { csvCell } from './export-format.ts';
import { exportReply } from './export.ts';

/** The export of the audit log: complete, and verifiable from the file alone. */
let app: TestApp;
let owner: Person;
let organization: ScopeRef;
let project: ScopeRef;

const as = () => ({ token: owner.token });
const hostile = '=HYPERLINK("https://evil.test","x")';

beforeAll(async () => {
  app = await startApp({ SECURITY_RATE_LIMIT_EXPORT_MAX: '100' });
  owner = await app.person({ type: 'organization', name: 'Ada' });
  const created = await app.must('createOrganization', { scope: owner.account, name: 'O' }, as());
  organization = { tenant: 'organization', id: created.id };
  project = (await app.must('createProject', { scope: organization, name: 'P\u2028Q' }, as())).scope;
  const { clientId, scope } = await app.must('createApiKey', { scope: project, name: 'K' }, as());
  const headers = { 'user-agent': hostile };
  await app.raw('exchangeApiKey', { clientId, scope, clientSecret: 'wrong' }, { headers });
});
afterAll(() => app.close());

const exported = async (input: object): Promise<string[]> => {
  const answer = await app.raw('exportAuditLogs', input, as());
  expect(answer.status, answer.body).toBe(200);
  return answer.body.split('\n').slice(0, -1);
};
const parsed = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as ChainEntry);
const whole: VerifyExportOptions = { filtered: false, end: 'own entry' };
const check = async (lines: readonly string[], how: Partial<VerifyExportOptions> = {}) =>
  verifyExport(lines, { ...whole, ...how });
const faultOf = async (lines: readonly string[], how: Partial<VerifyExportOptions> = {}) => {
  const { line, sequence, kind } = (await check(lines, how)).fault as ExportFault;
  return [line, sequence, kind];
};

it('has the entries of the list, oldest first, and ends with its own', async () => {
  const answer = await app.raw('exportAuditLogs', { scope: project }, as());
  expect(answer.headers).toMatchObject({
    'content-type': 'application/x-ndjson; charset=utf-8',
    'content-disposition': `attachment; filename="audit-organizationProject-${project.id.replace(':', '-')}.ndjson"`,
    'cache-control': 'no-store',
  });
  expect(String(answer.headers['ratelimit-policy'])).toContain('"export"');
  const lines = answer.body.split('\n');
  expect(lines.pop()).toBe('');
  const list = await app.must('auditLogs', { scope: project, sortOrder: 'ASC', limit: 100 }, as());
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(list.items);
  expect(parsed(lines).at(-1)).toMatchObject({
    operation: 'exportAuditLogs',
    event: null,
    target: null,
    metadata: { format: 'ndjson', includeProjects: false, filters: {} },
  });
  expect(await check(lines)).toMatchObject({ fault: null, chains: [{ first: 1, endProven: true }] });
});

it('knows its own entry from one of the same request id before', async () => {
  const headers = { 'x-request-id': 'twice' };
  const item = await app.raw('exportAuditLogs', { scope: project }, { ...as(), headers });
  const two = await app.raw('exportAuditLogs', { scope: project }, { ...as(), headers });
  expect(two.body.split('\n').length).toBe(item.body.split('\n').length + 1);
});

it('is a table of cells that no spreadsheet takes for a formula', async () => {
  const answer = await app.raw('exportAuditLogs', { scope: project, format: 'csv' }, as());
  expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
  expect(answer.headers['content-disposition']).toMatch(/\.csv"$/);
  const [header, ...rows] = answer.body.split('\r\n');
  expect(header).toMatch(/^id,sequence,occurredAt,scope,operation,.*,hash,personalDigest,salt$/);
  const refused = rows.find((row) => row.includes('evil.test')) ?? '';
  expect(refused).toContain(`,"'=HYPERLINK(""https://evil.test"",""x"")",`);
  expect(refused).toContain(`,"{""tenant"":""organizationProject"",""id"":""${project.id}""}",`);
  expect(rows.at(-1)).toBe('');
});

it.each([
  ['=1', "'=1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@a', "'@a"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  ['a=1', 'a=1'],
  ['a\nb', '"a\nb"'],
  ['say "a", b', '"say ""a"", b"'],
  [null, ''],
  [7, '7'],
  [{ a: '=' }, '"{""a"":""=""}"'],
])('writes %j as the cell %j', (value, cell) => {
  expect(csvCell(value)).toBe(cell);
});

it('takes the filters of the list, and says which', async () => {
  const lines = await exported({ scope: project, outcome: 'failed' });
  expect(parsed(lines).map(({ operation }) => operation)).toEqual(['exchangeApiKey']);
  const to = new Date(Date.now() - 3_600_000).toISOString();
  expect(await exported({ scope: project, to, event: 'api_key.*' })).toEqual([]);
  const last = parsed(await exported({ scope: project, operation: 'exportAuditLogs' }));
  expect(last.map(({ metadata }) => (metadata as { filters: object }).filters).slice(-3)).toEqual([
    { outcome: 'failed' },
    { to, event: 'api_key.*' },
    { operation: 'exportAuditLogs' },
  ]);
});

it('of an organization has the chains of its projects before its own', async () => {
  const lines = await exported({ scope: organization, includeProjects: true });
  expect([...new Set(parsed(lines).map(({ scope }) => (scope as ScopeRef).id))]).toEqual([
    project.id,
    organization.id,
  ]);
  const { fault, chains } = await check(lines);
  expect(fault).toBeNull();
  expect(chains.map(({ first, endProven }) => [first, endProven])).toEqual([
    [1, false],
    [1, true],
  ]);
  const refused = await app.raw('exportAuditLogs', { scope: project, includeProjects: true }, as());
  expect(refused.details).toMatchObject([{ path: 'includeProjects', code: 'not_allowed' }]);
});

it('is only for callers who may read the log, and a refused one has no file', async () => {
  const { scope } = await app.must('createProject', { scope: owner.account, name: 'Other' }, as());
  const key = await app.must('createApiKey', { scope, roleId: roleIdOf('Project Viewer') }, as());
  const { accessToken } = await app.must('exchangeApiKey', {
    clientId: key.clientId,
    clientSecret: key.clientSecret as string,
    scope: key.scope,
  });
  const refused = await app.raw('exportAuditLogs', { scope }, { token: accessToken });
  expect([refused.code, refused.reason]).toEqual(['FORBIDDEN', 'NO_PERMISSION']);
  const { items } = await app.must('auditLogs', { scope, operation: 'exportAuditLogs' }, as());
  expect(items).toMatchObject([{ outcome: 'denied' }]);
});

type Sealed = ChainEntry & ReturnType<typeof sealEntry>;

/** Entries of a project that is only made for it, sealed as the recorder does, every hundredth of another user. */
async function longLog(count: number) {
  const { id, scope } = await app.must('createProject', { scope: organization, name: 'Long' }, as());
  const [node] = await app.database.pool.select().from(nodes).where(eq(nodes.id, id));
  const users = [randomUUID(), randomUUID()];
  const userOf = (index: number) => users[index % 100 === 0 ? 0 : 1];
  let previousHash = node?.auditHash ?? '';
  const rows = Array.from({ length: count }, (_, index) => {
    const entry: ChainEntry = {
      id: randomUUID(),
      sequence: (node?.auditSequence ?? 0) + index + 1,
      occurredAt: new Date(Date.UTC(2030, 0, 1) + index).toISOString(),
      scope,
      operation: 'updateTag',
      event: null,
      outcome: 'success',
      code: null,
      reason: null,
      actor: { type: 'user', id: userOf(index), userId: userOf(index), name: 'Ada' },
      target: { type: 'Tag', id },
      changes: { name: { from: `${index}`, to: `${index + 1}` } },
      metadata: {},
      ipAddress: '192.0.2.1',
      userAgent: 'curl/8',
      requestId: `r-${index}`,
    };
    const sealing = sealEntry(entry, previousHash);
    previousHash = sealing.hash;
    return { ...entry, ...sealing, tenantId: id };
  });
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const records = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [snake(name), value])),
  );
  // Entries of other times than now are refused.
  await app.owner.execute(sql`alter table audit_log disable trigger user`);
  await app.owner.execute(
    sql`insert into audit_log select * from jsonb_populate_recordset(null::audit_log, ${JSON.stringify(records)}::jsonb)`,
  );
  await app.owner.execute(sql`alter table audit_log enable trigger user`);
  await app.database.pool
    .update(nodes)
    .set({ auditSequence: rows.at(-1)?.sequence ?? 0, auditHash: previousHash })
    .where(eq(nodes.id, id));
  return { id, scope, users };
}

it.runIf(isWhole())(
  'of 10,000 entries is proven, and the first bad line of a forged one is named',
  { tags: 'exhaustive', timeout: 120_000 },
  async () => {
    const count = 10_000;
    const { id, scope, users } = await longLog(count);
    const body = exportBody(scope, id);
    const pieces = body[Symbol.asyncIterator]();
    const requested = () => app.statements.filter((text) => !isFraming(text)).length;
    const before = requested();
    await expect(pieces.next()).rejects.toThrow('recorded before');
    expect(requested() - before).toBe(1);

    const clean = await exported({ scope });
    const sequences = parsed(clean).map(({ sequence }) => sequence);
    expect(sequences).toEqual(Array.from({ length: count + 2 }, (_, index) => index + 1));
    expect(await check(clean)).toMatchObject({ fault: null, chains: [{ entries: count + 2, erased: 0 }] });

    // A reader who stops reading: the service does not read on from the database either.
    const slow = exportBody(scope, id, parsed(clean).at(-1)?.requestId)[Symbol.asyncIterator]();
    const since = requested();
    await slow.next();
    expect(requested() - since).toBeLessThanOrEqual(4);
    await slow.return?.();

    const at = (index: number): string => clean[index] as string;
    const changed = at(4999).replace('"updateTag"', '"deleteTag"');
    expect(await faultOf(clean.with(4999, changed))).toEqual([5000, 5000, 'changed']);
    expect(await faultOf(clean.toSpliced(4999, 1))).toEqual([5000, 5001, 'missing before it']);
    expect(await faultOf(clean.with(4999, at(5000)).with(5000, at(4999)))).toEqual([
      5000,
      5001,
      'out of order',
    ]);
    expect(await faultOf(clean.slice(0, 5000))).toEqual([5000, 5000, 'cut off after it']);

    // A part by time begins in the middle.
    const part = clean.slice(4999, 5099);
    expect((await check(part, { end: 'unknown' })).chains).toMatchObject([{ first: 5000, endProven: false }]);
    const bad = (lines: readonly string[]) => faultOf(lines, { end: 'unknown' });
    expect(await bad(part.with(1, at(5000).replace('curl/8', 'curl/9')))).toEqual([2, 5001, 'changed']);
    expect(await bad(part.toSpliced(1, 0, at(4999)))).toEqual([2, 5000, 'repeated']);
    expect(await bad([...part.slice(0, 9), at(5008).slice(0, 200)])).toEqual([10, null, 'unreadable']);
    expect(await bad([])).toEqual([1, null, 'unreadable']);
    // What two readers could read differently.
    expect(await bad(part.with(1, at(5000).replace('{', '{"operation":"deleteTag",')))).toEqual([
      2,
      null,
      'unreadable',
    ]);
    // An entry with changed content and correct hashes does not match the next entry.
    const { previousHash, hash: _, personalDigest: __, salt: ___, ...said } = JSON.parse(at(5000)) as Sealed;
    const resealed = sealEntry({ ...said, operation: 'x' }, previousHash);
    const line = JSON.stringify({ ...(JSON.parse(at(5000)) as object), operation: 'x', ...resealed });
    expect(await bad(part.with(1, line))).toEqual([3, 5002, 'replaced']);

    const { hash } = JSON.parse(part.at(-1) as string) as Sealed;
    expect(await check(part, { end: { hash } })).toMatchObject({
      fault: null,
      chains: [{ endProven: true }],
    });
    expect(await faultOf(part.slice(0, -1), { end: { hash } })).toEqual([99, 5098, 'cut off after it']);
    // The entry of an export of something else makes no cut file whole.
    const foreign = (await exported({ scope: project })).at(-1) as string;
    expect((await faultOf([...part, foreign])).at(-1)).toBe('cut off after it');

    // Chosen entries are proven one by one.
    const chosen = part.filter((_, index) => index % 7 === 0);
    expect(await bad(chosen)).toEqual([2, 5007, 'missing before it']);
    const filtered = { filtered: true, end: 'unknown' } as const;
    expect((await check(chosen, filtered)).fault).toBeNull();
    expect(await faultOf(chosen.with(0, changed), filtered)).toEqual([1, 5000, 'changed']);

    // The erasure of a user removes the personal values of their entries and leaves the chain intact.
    const person = { id: users[0] as string, addresses: [] };
    for (let place = await eraseBatch(app.database.pool, person, null); place;) {
      place = await eraseBatch(app.database.pool, person, place);
    }
    const erased = await exported({ scope });
    expect(await check(erased)).toMatchObject({ fault: null, chains: [{ erased: count / 100 }] });
    const gone = erased.findIndex((line) => line.includes('"salt":null'));
    const filled = (erased[gone] as string).replace('"ipAddress":null', '"ipAddress":"192.0.2.66"');
    expect((await faultOf(erased.with(gone, filled))).slice(1)).toEqual([gone + 1, 'changed']);
  },
);

it('is verified by a script and its exit code', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'doorward-audit-')), 'audit.ndjson');
  const lines = await exported({ scope: project });
  const verify = (...options: string[]) =>
    spawnSync(
      process.execPath,
      ['scripts/run.mjs', 'packages/cli/src/main.ts', 'audit', 'verify', file, ...options],
      {
        encoding: 'utf8',
      },
    );
  await writeFile(file, `${lines.join('\n')}\n`);
  const good = verify();
  expect([good.status, good.stdout]).toEqual([0, expect.stringMatching(/^OK .* are one chain/)]);
  await writeFile(file, `${lines.toSpliced(1, 1).join('\n')}\n`);
  const bad = verify();
  expect([bad.status, bad.stdout]).toEqual([1, expect.stringMatching(/^BAD {2}line 2, entry 3: missing/)]);
  expect(verify('--jwks', 'nowhere.json').status).toBe(2);
});

const exportBody = (scope: ScopeRef, nodeId: string, requestId = 'none'): Readable =>
  exportReply((work) => work(app.database.pool), {
    scope: { ...scope, nodeId } as ResolvedScope,
    includeProjects: false,
    filters: [],
    format: 'ndjson',
    operation: 'exportAuditLogs',
    requestId,
  }).body as Readable;
