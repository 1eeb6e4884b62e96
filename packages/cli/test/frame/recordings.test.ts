import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDoorward } from '../support/run/doorward.ts';
import { emptyFolder } from '../support/folder.ts';
import { replay } from '../support/recordings.ts';
import { startWorld, type World } from '../support/service/world.ts';

/**
 * The outputs in documents are those of the commands, on a terminal of 100 columns. `RECORD=1` before the run of this file
 * writes them again.
 */
const root = join(import.meta.dirname, '../../../..');
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.service.close());

/** Answers of a person to questions. */
const typedAnswer = /\[y\/N\]/;

const terminal =
  (cwd: string, env: Readonly<Record<string, string>>) =>
  async (words: readonly string[]): Promise<string> => {
    const run = startDoorward(words, {
      cwd,
      columns: 100,
      env: { ...world.owner, ...env, NO_COLOR: '1', TERM: 'xterm' },
    });
    void run.printed(typedAnswer).then(
      () => run.type('n\n'),
      () => undefined,
    );
    return (await run.ended).stdout;
  };

test('the guide of policy as code', { timeout: 120_000 }, async () => {
  const { app } = world.service;
  const { owner } = world.project;
  const path = join(root, 'docs/guides/policy-as-code.md');
  const cwd = await emptyFolder();
  const document = /```yaml\n(# doorward\.yaml\n[\s\S]*?)```/.exec(await readFile(path, 'utf8'))?.[1] ?? '';
  const file = join(cwd, 'doorward.yaml');
  await writeFile(file, document);
  const made = await app.must('createProject', { scope: owner.account, name: 'Policy' }, owner);
  const { scope } = made;
  const run = terminal(cwd, { DOORWARD_SCOPE: `${scope.tenant}:${scope.id}` });
  let plans = 0;
  const { page, replayed } = await replay({
    path,
    ids: [],
    async run(words) {
      if (words[1] === 'plan' && ++plans === 2) {
        // A user gets the role, it is changed by hand, and the document changes too.
        const { items } = await app.must('roles', { scope, isSystem: false }, owner);
        const roleId = items[0]?.id ?? '';
        await app.must('createUser', { scope, name: 'Ada', roleIds: [roleId] }, owner);
        await app.must('updateRole', { scope, id: roleId, description: 'Changed in a hurry' }, owner);
        await writeFile(
          file,
          document.replace("['invoice:read', approve own]", '[approve own]').replace(/tests:[\s\S]*/, ''),
        );
      }
      if (words[1] === 'versions') await run(['policy', 'apply', '--yes']);
      return run(words);
    },
  });
  expect(page).toBe(replayed);
});

test('the page of the command line', { timeout: 120_000 }, async () => {
  const { app } = world.service;
  const { owner } = world.project;
  const { scope } = await app.must('createProject', { scope: owner.account, name: 'Shop' }, owner);
  const order = { scope, name: 'Order', slug: 'order', actions: ['read', 'approve'] };
  const { id: resourceId } = await app.must('createResource', order, owner);
  const read = await app.must('createPermission', { scope, resourceId, action: 'read' }, owner);
  await app.must('createPermission', { scope, resourceId, action: 'approve' }, owner);
  const group = await app.must('createGroup', { scope, name: 'Orders', permissionIds: [read.id] }, owner);
  const role = await app.must('createRole', { scope, name: 'Clerk', groupIds: [group.id] }, owner);
  const ada = await app.must('createUser', { scope, name: 'Ada', roleIds: [role.id] }, owner);
  const grace = await app.must('createUser', { scope, name: 'Grace', roleIds: [role.id] }, owner);
  const cwd = await emptyFolder();
  const run = terminal(cwd, { DOORWARD_SCOPE: `${scope.tenant}:${scope.id}` });
  const { page, replayed } = await replay({
    path: join(root, 'docs/cli.md'),
    ids: [ada.id, grace.id],
    async run(words) {
      // An address that no test has.
      if (words.includes('https://access.example.com')) return null;
      return run(words);
    },
  });
  expect(page).toBe(replayed);
});
