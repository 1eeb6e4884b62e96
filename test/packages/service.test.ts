/** The service as it is installed: the tarball of `doorward` alone in an empty folder. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { firstCheck } from '../../scripts/first-check.ts';
import { freePort, startService } from '../../scripts/service.ts';
import { install, root, run } from './support/installation.ts';

test('the checksums are those of all files of the release', async () => {
  const directory = dirname(inject('serviceTarball'));
  const checked = await run('sha256sum', ['--check', 'SHA256SUMS'], directory);
  const names = [inject('serviceTarball'), ...Object.values(inject('tarballs')), 'sbom.json'];
  expect(checked.trim().split('\n').sort()).toEqual(names.map((path) => `${basename(path)}: OK`).sort());
});

describe('doorward', () => {
  let folder: string;
  const command = () => join(folder, 'node_modules/.bin/doorward');

  beforeAll(async () => {
    const tarball = inject('serviceTarball');
    folder = await install(join(dirname(tarball), 'service'), [tarball]);
  });

  test('contains what was built, migrations, a read-me and the license, and nothing of a test', async () => {
    const files = (await run('tar', ['-tzf', inject('serviceTarball')], root)).trim().split('\n');
    const others = files.filter((file) => !/^package\/(?:dist|migrations)\//.test(file));
    expect(others.sort()).toEqual(['package/LICENSE', 'package/README.md', 'package/package.json']);
    expect(files).toContain('package/dist/console/index.html');
    expect(files.filter((file) => /\.test\.|\.ts$|\.inputs\.json$/.test(file))).toEqual([]);
  });

  test('has a manifest that runs nothing, and fixes the version of every library', async () => {
    const path = join(folder, 'node_modules/doorward/package.json');
    const manifest = JSON.parse(await readFile(path, 'utf8')) as { dependencies: Record<string, string> };
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(manifest).toMatchObject({ version, license: 'MIT', publishConfig: { provenance: true } });
    for (const member of ['private', 'scripts', 'devDependencies'])
      expect(manifest).not.toHaveProperty(member);
    expect(Object.values(manifest.dependencies).filter((range) => !/^\d/.test(range))).toEqual([]);
    expect(await run(command(), ['--version'], folder)).toBe(`${version}\n`);
  });

  test('reads the documents of its commands', async () => {
    const page = await readFile(join(root, 'docs/guides/policy-as-code.md'), 'utf8');
    await writeFile(join(folder, 'doorward.yaml'), /^```yaml\n([\s\S]*?)^```/m.exec(page)?.[1] ?? '');
    const tested = await run(command(), ['policy', 'test', '--offline'], folder);
    expect(tested).toContain('2 passed, 0 failed');
  });

  test('starts, signs a user up, checks a permission and stops', async () => {
    const port = await freePort();
    const args = ['start', '--port', String(port)] as const;
    const program = [command(), ...args] as const;
    const service = await startService({ port, root: folder, program, env: { LOG_LEVEL: 'info' } });
    try {
      const { granted, other, pages } = await firstCheck(service);
      expect({ granted, other }).toEqual({ granted: true, other: false });
      // The pages of the documentation are in the image alone.
      expect(pages).toEqual({
        '/': 200,
        '/console/': 200,
        '/api-docs': 200,
        '/docs/': 404,
        '/health/live': 200,
      });
      // Readable lines, as from the repository.
      await expect.poll(service.output).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}GET \/health\/live → 200 /m);
      expect(service.output()).not.toMatch(/pino-pretty|"level"|npm run/);
    } finally {
      expect(await service.stop()).toBe(0);
    }
  });
});
