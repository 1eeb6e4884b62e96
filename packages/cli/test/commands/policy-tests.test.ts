import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { emptyFolder } from '../support/folder.ts';
import type { How } from '../support/run/how.ts';
import { startWorld, type World } from '../support/service/world.ts';

/** Tests that are asked of a service: those that pass, those that fail with the reason, and those that cannot be checked. */
let world: World;
let env: Record<string, string>;
let folder: string;

beforeAll(async () => {
  world = await startWorld({ SECURITY_RATE_LIMIT_CHECK_MAX: '10000' });
  const { app } = world.service;
  const { owner, scope } = world.project;
  const as = { token: owner.token };
  const invoice = { scope, name: 'Invoice', slug: 'invoice', actions: ['read', 'approve'] };
  const { id: resourceId } = await app.must('createResource', invoice, as);
  const read = await app.must('createPermission', { scope, resourceId, action: 'read' }, as);
  const approve = await app.must('createPermission', { scope, resourceId, action: 'approve' }, as);
  const group = await app.must('createGroup', { scope, name: 'Readers', permissionIds: [read.id] }, as);
  const above = await app.must('createGroup', { scope, name: 'Approvers', permissionIds: [approve.id] }, as);
  await app.must('createRole', { scope, name: 'Approver', groupIds: [above.id] }, as);
  const role = await app.must('createRole', { scope, name: 'Reader', groupIds: [group.id] }, as);
  const key = await app.must('createApiKey', { scope, roleId: role.id }, as);
  const { clientId, clientSecret } = key as { clientId: string; clientSecret: string };
  const { accessToken } = await app.must('exchangeApiKey', { clientId, clientSecret, scope });
  const [account = '', project = ''] = scope.id.split(':');
  env = { ACCOUNT: account, PROJECT: project, KEY_TOKEN: accessToken, DOORWARD_SCOPE: '' };
  folder = await emptyFolder();
});
afterAll(() => world.service.close());

const example = () => readFile('examples/policy.yaml', 'utf8');

async function tested(text: string, how: How = {}, ...flags: readonly string[]) {
  await writeFile(join(folder, 'cases.yaml'), text);
  const all = { ...how, cwd: folder, env: { ...env, ...how.env } };
  return world.run(['policy', 'test', 'cases.yaml', ...flags], all);
}

test('the example of this repository passes, from a file of scope and cases alone', async () => {
  const { code, stdout, stderr } = await tested(await example());
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^ok {4}the owner manages roles$/m);
  expect(stdout).toMatch(/\n5 passed, 0 failed\n$/);
});

test('a failure ends with 1, with the place, the reason and the remedy', async () => {
  const text = (await example()).replace(
    '{ authorized: true }',
    '{ authorized: false, reason: CONDITION_NOT_MET }',
  );
  const more = '  - { name: nobody approves, permission: invoice:approve, expect: { authorized: true } }\n';
  const { code, stdout } = await tested(`${text}\n${more}`);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^FAIL {2}the key reads invoices: ALLOWED, expected CONDITION_NOT_MET {2}cases.yaml:\d+:5$/m,
  );
  expect(stdout).toContain('      no explanation: the caller lacks Authorization:Explain\n');
  expect(stdout).toMatch(/^FAIL {2}nobody approves: NO_PERMISSION, expected allowed {2}cases.yaml:\d+:5$/m);
  expect(stdout).toMatch(/^ {6}change {6}doorward users (?:set-roles|create) /m);
  expect(stdout).toMatch(/\n4 passed, 2 failed\n$/);
});

test('what cannot be checked ends with the exit code of its cause', async () => {
  const cases = await example();
  expect((await tested('cases: []')).code).toBe(2);
  expect((await tested(cases, { env: { DOORWARD_TOKEN: `${world.owner['DOORWARD_TOKEN']}x` } })).code).toBe(
    3,
  );
  expect((await tested(cases, {}, '--url', 'http://127.0.0.1:9')).code).toBe(7);
  const offline = await tested(cases, { env: { DOORWARD_URL: '' } }, '--offline');
  expect(offline).toMatchObject({ code: 0, stdout: '0 passed, 0 failed, 5 left out: they need a service\n' });
});

test('tests with one caller, scope and subject are asked together, and reported in order', async () => {
  const { owner, scope } = world.project;
  const many = Array.from({ length: 230 }, (_, index) => ({
    name: `test ${index}`,
    permission: index % 3 === 0 ? 'invoice:read' : 'invoice:approve',
    expect: { authorized: index % 3 === 0 },
    ...(index % 2 === 0 ? { tokenFrom: 'KEY_TOKEN' } : { subject: { userId: owner.userId }, scope }),
  }));
  const { stdout, stderr } = await tested(
    JSON.stringify({ cases: many }),
    {},
    '-v',
    '--json',
    '-s',
    world.scope,
  );
  const { results } = JSON.parse(stdout) as { results: { name: string; passed: boolean }[] };
  expect(results.map(({ name }) => name)).toEqual(many.map(({ name }) => name));
  const wrong = many.filter((_, index) => index % 2 === 1 && index % 3 === 0).length;
  expect(results.filter(({ passed }) => !passed).length).toBe(wrong);
  expect(stderr.match(/POST {2}\/api\/auth\/is-authorized\/batch/g)).toHaveLength(4);
});

describe('a test that is misspelled is refused with its place', () => {
  const good = { name: 'x', permission: 'a:b', expect: { authorized: true } };
  test.each([
    [{ ...good, expects: {} }, 'tests.0.expects', 'did you mean expect?'],
    [{ ...good, permission: 'a' }, 'tests.0.permission', 'resource:action'],
    [{ ...good, expect: { authorized: 'yes' } }, 'tests.0.expect', 'authorized: true'],
    [{ ...good, expect: { authorized: true, reason: 'ALOWED' } }, 'tests.0.expect.reason', 'mean ALLOWED?'],
    [{ ...good, subject: { user: 'x' } }, 'tests.0.subject', 'userId'],
    [{ ...good, subject: { roles: ['Clerk'] } }, 'tests.0.subject.roles.0', 'not a role of the document'],
    [{ ...good, context: { user: {} } }, 'tests.0.context', 'resource'],
    [{ ...good, scope: 'x' }, 'tests.0.scope', 'tenant'],
    [{ ...good, tokenFrom: 'NO_SUCH' }, 'The environment variable NO_SUCH', ''],
    [{ ...good, name: '${NO_SUCH}' }, 'The environment variable NO_SUCH', ''],
    ['x', 'tests.0', 'not an object'],
  ])('%j', async (wrong, path, text) => {
    const { code, stdout, stderr } = await tested(JSON.stringify({ cases: [wrong] }));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(path);
    expect(stderr).toContain(text);
  });
});

test('a decision of the document is explained too', async () => {
  const text = `version: 1
resources: { invoice: { actions: [approve] } }
permissions:
  own: { resource: invoice, action: approve, condition: { Equals: { resource.ownerId: '{{user.id}}' } } }
groups: { Billing: { permissions: [own] } }
roles: { Clerk: { groups: [Billing] } }
tests:
  - name: a clerk approves
    subject: { roles: [Clerk], attributes: { id: ada } }
    permission: invoice:approve
    context: { resource: { ownerId: bob } }
    expect: { authorized: true }
`;
  const { code, stdout } = await tested(text, {}, '--offline');
  expect(code).toBe(1);
  expect(stdout).toContain('FAIL  a clerk approves: CONDITION_NOT_MET, expected allowed  cases.yaml:8:5\n');
  expect(stdout).toContain('      matched     own\n');
  expect(stdout).toMatch(/values {6}\{.*"bob".*\}/);
});

describe('a document', () => {
  const passing =
    "tests: [{name: t, subject: {roles: [Clerk]}, permission: 'a:b', expect: {authorized: false}}]\n";
  const faults: readonly (readonly [title: string, text: string, fault: RegExp])[] = [
    ['an unknown member', 'version: 1\ncolour: red\nroles: {Clerk: {}}', /cases\.yaml:2:\d+ colour: Unknown/],
    [
      'an unknown group',
      'version: 1\nroles:\n  Clerk:\n    groups: [Nothing]',
      /cases\.yaml:4:14 roles\.Clerk\.groups\.0: /,
    ],
    ['another version', 'version: 2\nroles: {Clerk: {}}', /cases\.yaml:1:10 version: /],
    ['no version', 'roles: {Clerk: {}}', /version: /],
    ['a merge key', 'version: 1\nroles:\n  Clerk: { <<: { groups: [] } }', /roles\.Clerk\.<<: /],
    [
      'a number as description',
      'version: 1\nroles: {Clerk: {description: 7}}',
      /cases\.yaml:2:\d+ roles\.Clerk\.description: .*string/,
    ],
    ['a member `__proto__`', 'version: 1\n__proto__: {}\nroles: {Clerk: {}}', /cases\.yaml:2:1 __proto__ /],
    [
      'an unknown action',
      'version: 1\nresources: {a: {actions: [c]}}\npermissions: {a:b: {}}\nroles: {Clerk: {}}',
      /cases\.yaml:3:\d+ permissions\.a:b\.action: /,
    ],
    [
      'a key of a built-in row',
      "version: 1\ngroups: {'Tag: Query': {}}\nroles: {Clerk: {}}",
      /groups\.Tag: Query: Not allowed/,
    ],
    [
      'no condition',
      'version: 1\nresources: {a: {actions: [b]}}\npermissions: {a:b: {condition: {Equal: {}}}}\nroles: {Clerk: {}}',
      /permissions\.a:b\.condition/,
    ],
  ];

  test.each(faults)('with %s is refused before its tests run, as by plan', async (_, text, fault) => {
    const offline = await tested(`${text}\n${passing}`, { env: { DOORWARD_URL: '' } }, '--offline');
    expect([offline.code, offline.stdout], offline.stderr).toEqual([2, '']);
    expect(offline.stderr).toMatch(fault);
    const planned = await world.run(['policy', 'plan', 'cases.yaml'], {
      cwd: folder,
      env: { ...env, DOORWARD_SCOPE: world.scope },
    });
    expect(planned.code, planned.stdout + planned.stderr).toBe(2);
  });

  test('reads the project that the run names as `scope`', async () => {
    const condition = `{ Equals: { scope.id: '${world.project.scope.id}' } }`;
    const text = `version: 1
resources: { a: { actions: [b] } }
permissions: { a:b: { condition: ${condition} } }
groups: { G: { permissions: [a:b] } }
roles: { Clerk: { groups: [G] } }
tests: [{ name: t, subject: { roles: [Clerk] }, permission: 'a:b', expect: { authorized: true } }]
`;
    const named = await tested(text, { env: { DOORWARD_SCOPE: world.scope } }, '--offline');
    expect([named.code, named.stdout]).toEqual([0, 'ok    t\n1 passed, 0 failed\n']);
    expect((await tested(text, {}, '--offline')).code).toBe(1);
  });

  test('takes a resource in any spelling, as the service does', async () => {
    const text = `version: 1
resources: { order: { actions: [read] } }
permissions: { order:read: {} }
groups: { G: { permissions: [order:read] } }
roles: { Clerk: { groups: [G] } }
tests: [{ name: t, subject: { roles: [Clerk] }, permission: 'Order:Read', expect: { authorized: true } }]
`;
    expect((await tested(text, {}, '--offline')).stdout).toBe('ok    t\n1 passed, 0 failed\n');
  });
});
