/**
 * Measures the speed goals and what they are compared with: `npm run bench`.
 *
 *   -- --quick             short rounds and 10,000 rows instead of a million
 *   -- --rows=100000       the size of the large table
 *   -- --only=a,b          is-authorized, list, rows, exchange, me, refresh, processes, start, memory
 *   -- --on=embedded       or postgresql
 *   -- --dir=<checkout>    measures the service of another checkout
 *   -- --json=<file>       raw figures there instead of bench/results/speed.json
 *
 * Sender, service and PostgreSQL share the cores. The bench asserts nothing, because figures of a busy machine vary.
 */
import { checkRows, processRows } from './checks.ts';
import { findingCells, findingHead, isMet, type Finding } from './findings.ts';
import { listRows } from './lists.ts';
import { memoryRow, startRow } from './processes.ts';
import { printTable, readOptions, say } from './report.ts';
import { build, withPlace, start, type Backend } from './service.ts';
import type { Setting } from './setting.ts';
import { newPolicy, newTenant } from './tenant.ts';
import { exchangeRows, sessionRows } from './tokens.ts';

const options = readOptions();
const { wants, quick, dir } = options;
const pace = quick
  ? { seconds: 1, rounds: 3, warmUpSeconds: 2 }
  : { seconds: 2, rounds: 7, warmUpSeconds: 3 };
const rows = options.number('rows', quick ? 10_000 : 1_000_000);
const findings: Finding[] = [];

function report(finding: Finding): void {
  findings.push(finding);
  say(`  ${findingCells(finding).slice(0, 4).join('  ')}`);
}

async function measureServing(setting: Setting): Promise<void> {
  const isEmbedded = setting.backend === 'embedded';
  // Lists come first, while the tables contain little else.
  if (!isEmbedded && (wants('list') || wants('rows'))) await listRows(setting);
  if (wants('is-authorized')) await checkRows(setting);
  if (isEmbedded) return;
  if (wants('exchange')) await exchangeRows(setting);
  if (wants('me') || wants('refresh')) await sessionRows(setting);
  if (wants('processes')) await processRows(setting);
  if (wants('memory')) await memoryRow(setting);
}

async function measureBackend(backend: Backend): Promise<void> {
  say(backend);
  await withPlace(dir, backend, async (place) => {
    const service = await start(place);
    try {
      const tenant = await newTenant(service, 'ada');
      const policy = await newPolicy(service, tenant, 'Asked');
      await measureServing({ backend, service, place, tenant, policy, pace, rows, wants, report });
    } finally {
      await service.stop();
    }
    if (wants('start')) await startRow({ place, backend, report });
  });
}

await build(dir);
for (const backend of options.backends) await measureBackend(backend);
printTable(`As shipped, medians of ${pace.rounds} rounds of ${pace.seconds} s:`, [
  findingHead,
  ...findings.map(findingCells),
]);
await options.write('speed', {
  findings: findings.map((finding) => ({ ...finding, isMet: isMet(finding) })),
});
