import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { roleIdOf } from '../../server/src/schema/rights/built-in-ids.ts';
import { projectWithKey, serveApp } from './support/service.ts';

const root = join(import.meta.dirname, '..');
const run = promisify(execFile);

/** The first program of a read-me as a file of this folder. */
async function programOf(readMe: string, folder: string, change = (text: string) => text): Promise<string> {
  const text = await readFile(readMe, 'utf8');
  const contents = change(/^```ts\n([\s\S]*?)^```/m.exec(text)?.[1] ?? '');
  const { outputFiles } = await build({
    stdin: { contents, loader: 'ts', resolveDir: root },
    ...{ bundle: true, write: false, platform: 'node', format: 'esm', target: 'node20' },
  });
  const file = join(folder, 'program.mjs');
  await writeFile(file, outputFiles[0]?.contents ?? '');
  return file;
}

/** The program in the read-me runs as it is, with its settings in the environment. */
it('the read-me runs', async () => {
  const service = await serveApp();
  const folder = await mkdtemp(join(tmpdir(), 'doorward-readme-'));
  try {
    const project = await projectWithKey(service, { roleId: roleIdOf('Project Admin') });
    const file = await programOf(join(root, 'README.md'), folder);
    const { url, clientId, clientSecret, scope } = project.options;
    const env = {
      PATH: process.env['PATH'],
      DOORWARD_URL: url,
      DOORWARD_CLIENT_ID: clientId,
      DOORWARD_CLIENT_SECRET: clientSecret,
      DOORWARD_SCOPE: `${scope.tenant}:${scope.id}`,
    };
    const { stdout, stderr } = await run(process.execPath, [file, project.owner.userId], { env });
    expect(stderr).toBe('');
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(['false', 'Project Admin']));
  } finally {
    await rm(folder, { recursive: true, force: true });
    await service.close();
  }
});

/** That of the first page of the repository, beside the file of the demo data. */
it('the first page prints what it shows', async () => {
  const service = await serveApp();
  const folder = await mkdtemp(join(tmpdir(), 'doorward-readme-'));
  try {
    const { clientId, clientSecret, scope } = (await projectWithKey(service)).options;
    await mkdir(join(folder, 'data'));
    await writeFile(
      join(folder, 'data/demo.json'),
      JSON.stringify({ key: { clientId, clientSecret, scope } }),
    );
    const file = await programOf(join(root, '../../README.md'), folder, (text) =>
      text.replace('http://localhost:4000', service.url).replaceAll('invoice:', 'board:'),
    );
    const { stdout } = await run(process.execPath, [file], { cwd: folder });
    expect(stdout).toBe('ALLOWED\nfalse\n');
  } finally {
    await rm(folder, { recursive: true, force: true });
    await service.close();
  }
});
