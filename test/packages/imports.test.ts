/** What is installed can be imported: by Node, by compilers, by bundlers. */
import { build } from 'esbuild';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { entries } from './support/entries.ts';
import { root, run } from './support/installation.ts';

/** This Node, and those that `NODES` names, separated by colons. */
const nodes = [process.execPath, ...(process.env['NODES'] ?? '').split(':').filter(existsSync)];

/** Frameworks whose code these entries import, and not only their types. */
const withFramework = /\/(nest|otel|hono)$|react$/;

describe.each(nodes)('with %s', (node) => {
  test.each(entries)('$specifier runs, and exports something', async ({ specifier }) => {
    const script = `console.log(Object.keys(await import('${specifier}')).length)`;
    const printed = await run(node, ['--input-type=module', '-e', script], inject('project'));
    expect(Number(printed)).toBeGreaterThan(0);
  });

  test.each(entries.filter(({ specifier }) => !withFramework.test(specifier)))(
    '$specifier runs without any framework',
    async ({ specifier }) => {
      const script = `await import('${specifier}')`;
      expect(await run(node, ['--input-type=module', '-e', script], inject('bareProject'))).toBe('');
    },
  );
});

describe.each([
  ['nodenext', { module: 'nodenext' }],
  ['bundler', { module: 'esnext', moduleResolution: 'bundler' }],
])('types with module resolution %s', (name, options) => {
  const compilers = ['@typescript/native/bin/tsc', 'typescript/bin/tsc6'].map((path) =>
    join(root, 'node_modules', path),
  );

  test.each(compilers.filter(existsSync))('%s accepts every entry, strictly', async (compiler) => {
    const project = inject('project');
    const imports = entries.map(({ specifier }, index) => `import * as m${index} from '${specifier}';`);
    const source = `${imports.join('\n')}\nexport const all = [${imports.map((_, index) => `m${index}`).join()}];\n`;
    await writeFile(join(project, `${name}.ts`), source);
    const configuration = {
      compilerOptions: {
        target: 'es2022',
        lib: ['es2022', 'dom', 'dom.iterable'],
        types: ['node'],
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        // Some frameworks do not compile with their own optional libraries left out.
        skipLibCheck: true,
        ...options,
      },
      files: [`${name}.ts`],
    };
    await writeFile(join(project, `${name}.json`), JSON.stringify(configuration));
    expect(await run(process.execPath, [compiler, '-p', `${name}.json`], project)).toBe('');
  });

  test('the declarations of the packages themselves have no error', async () => {
    const project = inject('project');
    const own = entries.filter(
      ({ specifier }) => !/\/(nest|fastify|otel|hono|express|next)$/.test(specifier),
    );
    await writeFile(
      join(project, `own-${name}.ts`),
      own.map(({ specifier }) => `import '${specifier}';`).join('\n'),
    );
    const lib = 'es2022,dom,dom.iterable';
    const { module, ...more } = options as { module: string; moduleResolution?: string };
    const resolution = more.moduleResolution ? ['--moduleResolution', more.moduleResolution] : [];
    const args = [
      '--noEmit',
      '--strict',
      '--ignoreConfig',
      '--target',
      'es2022',
      '--lib',
      lib,
      '--module',
      module,
      ...resolution,
    ];
    const compiler = compilers[0] ?? '';
    const printed = await run(
      process.execPath,
      [compiler, ...args, '--types', 'node', `own-${name}.ts`],
      project,
    );
    expect(printed).toBe('');
  });
});

const forBrowsers = entries.filter(({ specifier }) => /decision|browser|react|\/client$/.test(specifier));

test.each([
  ...entries.map(({ specifier }) => ({ specifier, platform: 'node' as const })),
  ...forBrowsers.map(({ specifier }) => ({ specifier, platform: 'browser' as const })),
])('$specifier is bundled for $platform', async ({ specifier, platform }) => {
  const { warnings, outputFiles } = await build({
    stdin: { contents: `export * from '${specifier}'`, resolveDir: inject('project') },
    bundle: true,
    format: 'esm',
    platform,
    // Applications bring them along, and their bundlers leave them out of what runs in Node.
    external: platform === 'node' ? ['@nestjs/*', 'next/*'] : [],
    write: false,
    logLevel: 'silent',
  });
  expect(warnings).toEqual([]);
  expect(outputFiles[0]?.text.length).toBeGreaterThan(0);
});
