/**
 * Figures of a run as they stand in docs/capacity.md, so that none is typed by hand:
 *
 *   npm run bench -- --json bench/last-run.json && npm run capacity
 *
 * What stands between the marks of the page is replaced, and the chart drawn anew. Takes another file as argument.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { chart } from '../bench/chart.ts';
import {
  goalCells,
  goalHead,
  goalsOf,
  rounded,
  rowCells,
  rowHead,
  statementCells,
  statementHead,
  type Run,
} from '../bench/report.ts';

const root = join(import.meta.dirname, '..');
const page = join(root, 'docs', 'capacity.md');
const run = JSON.parse(
  await readFile(process.argv[2] ?? join(root, 'bench', 'last-run.json'), 'utf8'),
) as Run;

const table = (lines: readonly (readonly string[])[]): string => {
  const [head = [], ...rows] = lines.map((cells) => `| ${cells.join(' | ')} |`);
  return [head, `|${' --- |'.repeat(lines[0]?.length ?? 0)}`, ...rows].join('\n');
};
const measured = run.rows.filter(({ perSecond }) => perSecond !== undefined);
const sized = run.series.flatMap(({ series, size, points }) =>
  points.map((point) =>
    rowCells({ ...point, row: series, what: `${series}: ${rounded(point.size)} ${size}` }),
  ),
);
const { cores, processor, node, postgres } = run.machine;
const parts: Readonly<Record<string, string>> = {
  goals: table([goalHead, ...goalsOf(run).map(goalCells)]),
  figures: `Node ${node}, ${postgres}, ${cores} cores of ${processor}, which load, service and PostgreSQL share unless a row says one core; ${run.pace}.\n\n${table([rowHead, ...measured.map(rowCells)])}`,
  sizes: table([rowHead, ...sized]),
  statements: table([statementHead, ...run.statements.map(statementCells)]),
};

let text = await readFile(page, 'utf8');
for (const [name, part] of Object.entries(parts)) {
  const marked = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
  if (!marked.test(text)) throw new Error(`docs/capacity.md has no place for ${name}`);
  text = text.replace(marked, (_, begin: string, end: string) => `${begin}\n${part}\n\n${end}`);
}
await writeFile(page, await format(text, { ...(await resolveConfig(page)), parser: 'markdown' }));
await writeFile(join(root, 'docs', 'pictures', 'capacity.svg'), chart(run.series));
