import { build } from 'esbuild';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { createSourcePlaces, lookUp } from './source-places.ts';

/** A real bundle of this service, with the options of the real build that matter here. */
const folder = mkdtempSync(join(tmpdir(), 'doorward-places-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { outputFiles } = await build({
  absWorkingDir: join(import.meta.dirname, '..'),
  entryPoints: ['src/errors.ts', 'src/log.ts'],
  outdir: join(folder, 'dist'),
  write: false,
  bundle: true,
  format: 'esm',
  sourcemap: 'linked',
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
});
const [map = ''] = outputFiles.flatMap(({ path, text }) => (path.endsWith('log.js.map') ? [text] : []));

describe('a place in the sources', () => {
  it('is the one that Node finds, for every place of the bundle', () => {
    const { mappings, sources } = JSON.parse(map) as { mappings: string; sources: string[] };
    const theirs = new SourceMap(JSON.parse(map) as SourceMapPayload);
    const rows = mappings.split(';').length;
    let compared = 0;
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < 220; column += 3) {
        const found = lookUp(mappings, row, column);
        const entry = theirs.findEntry(row, column);
        // Before the first mapping of a line Node answers the last of the line before.
        if (!('originalSource' in entry) || entry.generatedLine !== row) continue;
        compared++;
        expect(found && { ...found, source: sources[found.source] }).toEqual({
          source: entry.originalSource,
          row: entry.originalLine + 1,
          column: entry.originalColumn + 1,
        });
      }
    }
    expect(compared).toBeGreaterThan(500);
  });

  it('replaces that of the bundle in a line of a stack', () => {
    for (const { path, text } of outputFiles.filter(({ path }) => path.includes('log.js'))) {
      writeFileSync(join(folder, path.split('/').at(-1) ?? ''), text);
    }
    const url = pathToFileURL(join(folder, 'log.js')).href;
    const placed = createSourcePlaces();
    expect(placed(`at described (${url}:1:100)`)).toMatch(/^at described \(.*src\/log\.ts:\d+:\d+\)$/);
  });

  it.each([
    'at run (file:///nowhere/dist/main.js:1:1)',
    'at node:internal/process/task_queues:95:5',
    'at async Promise.all (index 0)',
    '',
  ])('leaves %s as it is', (line) => {
    expect(createSourcePlaces()(line)).toBe(line);
  });
});
