/** Every command of the command line, from the tarballs in an empty folder, against a running service. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { exitCodes } from '../../packages/cli/src/exit-codes.ts';
import { all, filesOfFolder } from '../../packages/cli/test/support/every-command.ts';
import { patient, typed } from '../../packages/cli/test/support/typed.ts';
import { callOrThrow, signUp, startService, type Service } from '../../scripts/service.ts';
import { root, run } from './support/installation.ts';

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

let service: Service;
/** The session of the owner of a project. */
let owner: Readonly<Record<string, string>>;
/** Where the commands run: nothing but the files that they name. */
let folder: string;

const command = () => join(inject('bareProject'), 'node_modules/.bin/doorward');

beforeAll(async () => {
  service = await startService();
  const { token, accountId } = await signUp(service, 'commands');
  const body = { scope: { tenant: 'account', id: accountId }, name: 'Commands' };
  const { scope } = await callOrThrow<{ scope: { tenant: string; id: string } }>(
    `${service.base}/api/projects`,
    { token, body },
  );
  owner = {
    DOORWARD_URL: service.base,
    DOORWARD_TOKEN: token,
    DOORWARD_SCOPE: `${scope.tenant}:${scope.id}`,
  };
  folder = await mkdtemp(join(tmpdir(), 'doorward-commands-'));
  for (const [name, text] of Object.entries(filesOfFolder)) await writeFile(join(folder, name), text);
});
afterAll(async () => {
  await service?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function doorward(args: readonly string[], stopAfter?: number): Promise<Ended> {
  const { PATH = '', HOME = folder } = process.env;
  const env = { PATH, HOME, ...owner, DOORWARD_CONFIG_DIR: join(folder, 'config'), NO_COLOR: '1' };
  const child = spawn(command(), args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => undefined);
  child.stdin.end('dwk_x');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (output += part.toString()));
  const timer = stopAfter === undefined ? null : setTimeout(() => child.kill('SIGINT'), stopAfter);
  const [code] = (await once(child, 'close')) as [number | null];
  if (timer) clearTimeout(timer);
  return { code, output };
}

/** Ends the test with the output, unless the command ends with 0. */
async function succeeds(...args: readonly string[]): Promise<string> {
  const { code, output } = await doorward(args);
  expect(code, `${args.join(' ')}: ${output}`).toBe(0);
  return output;
}

test.each(all)('$name ends as documented', async ({ name, command: declared }) => {
  const args = typed(declared);
  const { code, output } = await doorward(args, patient.includes(name) ? 4000 : undefined);
  expect(Object.values(exitCodes), output).toContain(code);
  expect(output, name).not.toMatch(/UNEXPECTED|ERR_[A-Z]|^ {4}at /m);
});

test('a policy goes through every command below `policy`', async () => {
  const page = await readFile(join(root, 'docs/guides/policy-as-code.md'), 'utf8');
  await writeFile(
    join(folder, 'doorward.yaml'),
    /```yaml\n(# doorward\.yaml\n[\s\S]*?)```/.exec(page)?.[1] ?? '',
  );
  const cases = 'tests:\n  - { name: asked, permission: invoice:read, expect: { authorized: false } }\n';
  await writeFile(join(folder, 'cases.yaml'), cases);
  expect(await succeeds('policy', 'test', '--offline')).toContain('2 passed, 0 failed');
  await succeeds('policy', 'plan', '--allow-delete', '-o', 'plan.json');
  await succeeds('policy', 'apply', 'plan.json', '-m', 'Clerks', '--yes');
  expect(await succeeds('policy', 'test', 'cases.yaml')).toContain('1 passed, 0 failed');
  await succeeds('policy', 'export', '-o', 'exported.yaml');
  expect(await readFile(join(folder, 'exported.yaml'), 'utf8')).toContain('Clerk');
  await succeeds('policy', 'versions');
  await succeeds('policy', 'diff', '1');
  await succeeds('policy', 'rollback', '1', '--allow-delete', '--yes');
});

describe('what the installed packages import', () => {
  /** Specifiers of other packages, loaded at once or on demand. */
  const specifiersIn = (source: string): string[] =>
    [
      ...source.matchAll(/(?:^(?:import|export)\b[^;'"]*?\bfrom|^import|\bimport\()\s*['"]([^'"]+)['"]/gm),
    ].flatMap(([, specifier = '']) => (/^[.#]/.test(specifier) ? [] : specifier));

  test.each(['cli', 'node', 'decision', 'browser', 'react'])('@doorward/%s', async (name) => {
    const installed = join(inject('project'), 'node_modules/@doorward', name);
    const files = (await readdir(installed, { recursive: true })).filter((path) => path.endsWith('.js'));
    const sources = await Promise.all(files.map((path) => readFile(join(installed, path), 'utf8')));
    const specifiers = [...new Set(sources.flatMap(specifiersIn))];
    const script = `
      for (const specifier of ${JSON.stringify(specifiers)})
        try { import.meta.resolve(specifier); } catch (error) { console.log(specifier + ': ' + error.code); }`;
    const probe = join(installed, 'probe.mjs');
    await writeFile(probe, script);
    // Next.js is what the application brings along, and does not belong to these projects.
    const missing = (await run(process.execPath, [probe], installed)).split('\n').filter(Boolean);
    await rm(probe);
    expect(missing.filter((line) => !line.startsWith('next/'))).toEqual([]);
  });
});
