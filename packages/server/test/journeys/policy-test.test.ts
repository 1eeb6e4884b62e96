import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCases, runCases, CannotCheck, type Post } from '../../../../scripts/policy-cases.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app.ts';
import type { Person } from '../support/client.ts';

/**
 * The policy test command against a running service: cases that pass, cases that fail with the reason, and cases that
 * cannot be checked.
 */
let app: TestApp;
let owner: Person;
let scope: ScopeRef;
let env: Record<string, string>;
let folder: string;
let url: string;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
  const as = { token: owner.token };
  const project = await app.must('createProject', { scope: owner.account, name: 'Billing' }, as);
  ({ scope } = project);
  const invoice = { scope, name: 'Invoice', slug: 'invoice', actions: ['read', 'approve'] };
  const { id: resourceId } = await app.must('createResource', invoice, as);
  const read = await app.must('createPermission', { scope, resourceId, action: 'read' }, as);
  const approve = await app.must('createPermission', { scope, resourceId, action: 'approve' }, as);
  const group = await app.must('createGroup', { scope, name: 'Readers', permissionIds: [read.id] }, as);
  const above = await app.must('createGroup', { scope, name: 'Approvers', permissionIds: [approve.id] }, as);
  await app.must('createRole', { scope, name: 'Approver', groupIds: [above.id] }, as);
  const role = await app.must('createRole', { scope, name: 'Reader', groupIds: [group.id] }, as);
  const key = await app.must('createApiKey', { scope, roleId: role.id }, as);
  const { clientId, clientSecret } = key;
  const exchange = { clientId, clientSecret: clientSecret as string, scope: key.scope };
  const { accessToken } = await app.must('exchangeApiKey', exchange);
  env = { ACCOUNT: owner.account.id, PROJECT: project.id, KEY_TOKEN: accessToken };
  folder = await mkdtemp(join(tmpdir(), 'doorward-policy-'));
  await app.server.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(app.server.server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

const example = () => readFile('examples/policy.yaml', 'utf8');

/** The command line as an operator types it. */
async function command(text: string, token = owner.token, at: string | null = url, more: object = {}) {
  const file = join(folder, `${randomUUID()}.yaml`);
  await writeFile(file, text);
  const args = ['scripts/run.mjs', 'scripts/policy-test.ts', file, ...(at === null ? [] : ['--url', at])];
  args.push('--token', token);
  const child = spawn(process.execPath, args, { env: { PATH: process.env['PATH'], ...env, ...more } });
  let [out, err] = ['', ''];
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (err += data.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

let requested: { path: string; items: number }[] = [];
const post: Post = async (path, body, token = owner.token) => {
  requested.push({ path, items: (body as { items?: unknown[] }).items?.length ?? 1 });
  const answer = await app.server.inject({
    method: 'POST',
    url: `/api${path}`,
    headers: { authorization: `Bearer ${token}` },
    payload: body,
  });
  return { status: answer.statusCode, body: answer.json<unknown>() };
};

describe('the command', () => {
  it('exits with 0 when all cases pass: the example of this repository', async () => {
    const { code, out } = await command(await example());
    expect(out).toMatch(/^ok {4}the owner manages roles: Role:Create ALLOWED$/m);
    expect(out).toMatch(/\n5 passed, 0 failed\n$/);
    expect(code).toBe(0);
  });

  it('uses the service of the environment variable DOORWARD', async () => {
    const { code, out } = await command(await example(), owner.token, null, { DOORWARD: `${url}/` });
    expect(out).toMatch(/\n5 passed, 0 failed\n$/);
    expect(code).toBe(0);
  });

  it('exits with 1 when a case fails, with the reason and the remedy', async () => {
    const text = (await example()).replace(
      '{ authorized: true }',
      '{ authorized: false, reason: CONDITION_NOT_MET }',
    );
    const { code, out } = await command(
      `${text}\n  - { name: nobody approves, permission: invoice:approve, expect: { authorized: true } }\n`,
    );
    expect(out).toMatch(
      /^FAIL {2}the key reads invoices: invoice:read ALLOWED\n {6}expected CONDITION_NOT_MET$/m,
    );
    expect(out).toMatch(/no explanation: the caller lacks Authorization:Explain/);
    expect(out).toMatch(/^FAIL {2}nobody approves: invoice:approve NO_PERMISSION\n {6}expected allowed$/m);
    expect(out).toMatch(/"nearest": \[\n +\{\n +"kind": "assignRole"/);
    expect(out).toMatch(/\n4 passed, 2 failed\n$/);
    expect(code).toBe(1);
  });

  it('exits with 2 when nothing could be checked', async () => {
    const results = await Promise.all([
      command('cases: []'),
      command(await example(), 'nonsense'),
      command(await example(), owner.token, 'http://127.0.0.1:9'),
    ]);
    expect(results.map(({ code }) => code)).toEqual([2, 2, 2]);
    expect(results[1]?.err).toContain(`${url}: the service answered 401 UNAUTHENTICATED`);
    expect(results[2]?.err).toMatch(/ECONNREFUSED|bad port/);
  });
});

describe('cases', () => {
  it('are sent in batches, those of one token, scope and subject together, and reported in order', async () => {
    const many = Array.from({ length: 130 }, (_, index) => ({
      name: `case ${index}`,
      permission: index % 3 === 0 ? 'invoice:read' : 'invoice:approve',
      expect: { authorized: index % 3 === 0 },
      ...(index % 2 === 0 ? { tokenFrom: 'KEY_TOKEN' } : { subject: { userId: owner.userId }, scope }),
    }));
    requested = [];
    const results = await runCases(readCases(JSON.stringify({ cases: many }), env), post);
    expect(results.map(({ policyCase: policyCase }) => policyCase.name)).toEqual(
      many.map(({ name }) => name),
    );
    expect(results.filter(({ passed }) => passed).length).toBe(
      65 + many.filter((_, i) => i % 2 && i % 3).length,
    );
    const batches = requested.filter(({ path }) => path.endsWith('/batch'));
    expect(batches.map(({ items }) => items)).toEqual([65, 65]);
    const same = {
      name: 'same',
      permission: 'invoice:read',
      tokenFrom: 'KEY_TOKEN',
      expect: { authorized: true },
    };
    const hundred = many.map(() => same);
    requested = [];
    await runCases(readCases(JSON.stringify({ cases: hundred }), env), post);
    expect(requested.map(({ items }) => items)).toEqual([100, 30]);
  });

  it('are refused with an unknown member, and the location is named', () => {
    const good = { name: 'x', permission: 'a:b', expect: { authorized: true } };
    const bad: (readonly [object | string, RegExp])[] = [
      [{ cases: [{ ...good, expects: {} }] }, /cases\.0: .*expects/],
      [{ cases: [{ ...good, permission: 'a' }] }, /cases\.0\.permission/],
      [{ cases: [{ ...good, expect: { authorized: 'yes' } }] }, /cases\.0\.expect\.authorized/],
      [{ cases: [{ ...good, expect: { authorized: true, reason: 'ALOWED' } }] }, /cases\.0\.expect\.reason/],
      [{ cases: [{ ...good, tokenFrom: 'NO_SUCH' }] }, /the environment has no NO_SUCH/],
      [{ cases: [{ ...good, name: '${NO_SUCH}' }] }, /the environment has no NO_SUCH/],
      [{ case: [good] }, /cases/],
      ['a: [', /not YAML/],
    ];
    for (const [file, message] of bad) {
      const read = () => readCases(typeof file === 'string' ? file : JSON.stringify(file), env);
      expect(read, JSON.stringify(file)).toThrow(CannotCheck);
      expect(read).toThrow(message);
    }
  });
});
