/**
 * Every promise of speed, measured side by side with what it is held against, in one run: `npm run bench`.
 *
 *   -- --quick             a glance: short rounds, a table of 10,000 rows
 *   -- --only a,b          these rows: echo and is-authorized, is-authorized-by-token, batch, exchange, refresh, list,
 *                          create-role, jwks, health, select-1, size-roles, size-worn, size-tenants, size-rows,
 *                          workers, start, memory, statements
 *   -- --json <file>       also as JSON, which `npm run capacity` makes a page of
 *   -- --profile <folder>  a CPU profile of the service for each database
 *
 * It asserts nothing: figures of a busy machine are no verdict. PostgreSQL is used when DATABASE_URL, TEST_DATABASE_URL
 * or 127.0.0.1:5432 answers, in databases of its own.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { buildService } from '../scripts/service.ts';
import { say, type Pace } from './measure.ts';
import { plainRows } from './plain.ts';
import { startRows, workerRows } from './processes.ts';
import { questionRows } from './questions.ts';
import { asText, machine, type Row, type Run, type Series } from './report.ts';
import { inSetting, newDatabase } from './setting.ts';
import { sizeRows } from './sizes.ts';
import { countStatements, type StatementCount } from './statements.ts';
import { tokenRows } from './tokens.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    json: { type: 'string' },
    profile: { type: 'string' },
  },
});
const pace: Pace = values.quick
  ? { seconds: 2, rounds: 1, warmUpSeconds: 2, checks: 100_000 }
  : { seconds: 1, rounds: 15, warmUpSeconds: 3, checks: 1_000_000 };
const MOST_ROWS = values.quick ? 10_000 : 1_000_000;

const only = values.only?.split(',');
const rows: Row[] = [];
const series: Series[] = [];
let statements: StatementCount[] = [];
const found = {
  pace,
  wanted: (row: string) => only?.includes(row) ?? true,
  found(row: Row): void {
    rows.push(row);
    say(`  ${row.what}`);
  },
  foundSeries: (one: Series) => void series.push(one),
};
const nodeOptions = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`];

await buildService();
if (['is-authorized', 'start'].some(found.wanted)) {
  say('embedded');
  await inSetting(null, found, nodeOptions, async (setting) => {
    await questionRows(
      { ...setting, wanted: (row) => row === 'is-authorized' && found.wanted(row) },
      'embedded',
    );
    await startRows(setting);
  });
}
const database = await newDatabase();
let postgres = 'none';
if (database) {
  say('PostgreSQL');
  await inSetting(database, found, nodeOptions, async (setting) => {
    const [server] = (await setting.database?.tables.query('show server_version')) ?? [];
    postgres = `PostgreSQL ${String(server?.['server_version']).split(' ')[0]}`;
    await startRows(setting);
    await questionRows(setting, 'PostgreSQL');
    await tokenRows(setting);
    await plainRows(setting);
    await workerRows(setting);
    await sizeRows(setting, MOST_ROWS);
  });
}
if (found.wanted('statements')) {
  say('statements');
  const counted = await newDatabase();
  try {
    statements = await countStatements(counted?.url ?? null);
  } finally {
    await counted?.drop();
  }
}
const run: Run = {
  machine: machine(postgres),
  pace: `medians of ${pace.rounds} rounds of ${pace.seconds} s`,
  rows,
  series,
  statements,
};
process.stdout.write(`\n${asText(run)}\n`);
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(run, null, 2)}\n`);
