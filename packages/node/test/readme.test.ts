import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { roleIdOf } from '../../server/src/access/built-in.ts';
import { projectWithKey, serveApp } from './support/service.ts';

/** The program in the read-me runs as it is, with its settings in the environment. */
it('the read-me runs', async () => {
  const service = await serveApp();
  const folder = await mkdtemp(join(tmpdir(), 'doorward-readme-'));
  try {
    const project = await projectWithKey(service, { roleId: roleIdOf('Project Admin') });
    const root = join(import.meta.dirname, '..');
    const text = await readFile(join(root, 'README.md'), 'utf8');
    const contents = /^```ts\n([\s\S]*?)^```/m.exec(text)?.[1] ?? '';
    const { outputFiles } = await build({
      stdin: { contents, loader: 'ts', resolveDir: root },
      ...{ bundle: true, write: false, platform: 'node', format: 'esm', target: 'node20' },
    });
    const file = join(folder, 'readme.mjs');
    await writeFile(file, outputFiles[0]?.contents ?? '');
    const { url, clientId, clientSecret, scope } = project.options;
    const env = {
      PATH: process.env['PATH'],
      DOORWARD_URL: url,
      DOORWARD_CLIENT_ID: clientId,
      DOORWARD_CLIENT_SECRET: clientSecret,
      DOORWARD_SCOPE: `${scope.tenant}:${scope.id}`,
    };
    const run = promisify(execFile);
    const { stdout, stderr } = await run(process.execPath, [file, project.owner.userId], { env });
    expect(stderr).toBe('');
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(['false', 'Project Admin']));
  } finally {
    await rm(folder, { recursive: true, force: true });
    await service.close();
  }
});
