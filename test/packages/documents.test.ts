/** What the documents of the packages promise: read-mes whose code is right, and reference pages without a gap. */
import { build } from 'esbuild';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { publishedPackages } from '../../scripts/package-manifest.ts';
import { root, run } from './support/installation.ts';

/** The code blocks of a read-me. */
async function codeOf(name: string): Promise<string[]> {
  const text = await readFile(join(root, 'packages', name, 'README.md'), 'utf8');
  return [...text.matchAll(/^```(?:js|jsx|ts|tsx)\n([\s\S]*?)^```/gm)].map(([, code]) => code ?? '');
}

const imported = publishedPackages.filter((name) => name !== 'cli');

describe.each(imported)('the read-me of %s', (name) => {
  test('imports what the package exports', async () => {
    const blocks = await codeOf(name);
    expect(blocks.length).toBeGreaterThan(0);
    expect(blocks.join('\n')).toContain(`from '@doorward/${name}'`);
    for (const contents of blocks) {
      // A name that a package does not export is an error of the bundler.
      const { warnings } = await build({
        stdin: { contents, loader: 'tsx', resolveDir: inject('project') },
        bundle: true,
        format: 'esm',
        platform: 'node',
        packages: 'bundle',
        jsx: 'automatic',
        write: false,
        logLevel: 'silent',
      });
      expect(warnings).toEqual([]);
    }
  });
});

test('every public declaration is described without a warning', async () => {
  const out = await mkdtemp(join(tmpdir(), 'doorward-api-'));
  const printed = await run(process.execPath, ['node_modules/typedoc/bin/typedoc', '--out', out], root);
  expect(printed).not.toContain('[warning]');
  const pages = await readdir(out, { recursive: true });
  for (const page of ['createDoorward', 'decide', 'createBrowserClient', 'useCan'])
    expect(pages.filter((path) => path.endsWith(`${page}.md`))).toHaveLength(1);
  await rm(out, { recursive: true, force: true });
}, 180_000);
