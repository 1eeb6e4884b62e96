/** What is in the tarballs, and how large it is. */
import { build } from 'esbuild';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { describe, expect, inject, test } from 'vitest';
import { publishedPackages } from '../../scripts/package-manifest.ts';
import { entries } from './support/entries.ts';
import { root, run } from './support/installation.ts';

describe.each(publishedPackages)('%s', (name) => {
  const read = async <T = Record<string, unknown>>(path: string): Promise<T> =>
    JSON.parse(await readFile(join(root, 'packages', name, path), 'utf8')) as T;

  test('contains JavaScript and types, a read-me and the license, and nothing else', async () => {
    const files = (await run('tar', ['-tzf', inject('tarballs')[name]], root)).trim().split('\n');
    const others = files.filter((file) => !/^package\/(src|golden)\/[\w/-]+(\.js|\.d\.ts)$/.test(file));
    expect(others.sort()).toEqual(['package/LICENSE', 'package/README.md', 'package/package.json']);
    expect(files.filter((file) => file.includes('.test.'))).toEqual([]);
  });

  test('has a manifest that runs nothing and fixes the version of its siblings', async () => {
    const { version } = await read<{ version: string }>('../../package.json');
    const manifest = await read<Record<string, unknown> & { dependencies?: Record<string, string> }>(
      'dist/package.json',
    );
    expect(manifest).toMatchObject({
      version,
      type: 'module',
      license: 'MIT',
      publishConfig: { access: 'public', provenance: true },
    });
    expect(
      Object.keys(manifest).filter((key) => ['private', 'scripts', 'devDependencies'].includes(key)),
    ).toEqual([]);
    const siblings = Object.entries(manifest.dependencies ?? {}).filter(([library]) =>
      library.startsWith('@doorward/'),
    );
    expect(siblings.map(([, range]) => range)).toEqual(siblings.map(() => version));
  });

  test('has no fault that publint or attw sees', async () => {
    const { messages, pkg } = await publint({ pkgDir: join(root, 'packages', name, 'dist'), strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
    // A command has no types.
    if (name === 'cli') return;
    const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const args = [
      attw,
      inject('tarballs')[name],
      '--profile',
      'esm-only',
      '--no-definitely-typed',
      '--format',
      'ascii',
    ];
    // It ends with 1 when it finds a problem. CommonJS and old resolutions are none, for packages of modules.
    const answers = (await run(process.execPath, args, root)).match(/^(node16 \(from ESM\)|bundler): .*$/gm);
    expect(answers?.filter((answer) => !answer.includes('🟢'))).toEqual([]);
  });
});

/** Bytes that a page or a process loads (packages §1), minified and compressed, without libraries and siblings. */
const limits: Readonly<Record<string, number>> = {
  '@doorward/node': 25_000,
  '@doorward/node/audit': 3000,
  // Most of it is the table of operations, each some twelve bytes.
  '@doorward/node/client': 10_000,
  '@doorward/node/express': 3000,
  '@doorward/node/fastify': 3000,
  '@doorward/node/hono': 3000,
  '@doorward/node/nest': 3000,
  '@doorward/node/next': 3000,
  '@doorward/node/otel': 3000,
  '@doorward/decision': 10_500,
  '@doorward/decision/document': 10_000,
  '@doorward/browser': 8000,
  '@doorward/react': 3000,
};

test.each(entries.filter(({ specifier }) => !specifier.endsWith('/golden')))(
  '$specifier is small',
  async ({ specifier, package: name }) => {
    const { outputFiles } = await build({
      stdin: { contents: `export * from '${specifier}'`, resolveDir: inject('project') },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'neutral',
      target: 'es2022',
      write: false,
      logLevel: 'silent',
      plugins: [
        {
          name: 'libraries',
          // Everything but this package stays outside.
          setup: (bundler) =>
            bundler.onResolve({ filter: /^[^./]/ }, ({ path }) =>
              path === specifier ? undefined : { path, external: path !== `@doorward/${name}` },
            ),
        },
      ],
    });
    const bytes = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
    expect(limits[specifier], specifier).toBeDefined();
    expect(bytes).toBeLessThanOrEqual(limits[specifier] ?? 0);
  },
);
