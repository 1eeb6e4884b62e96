import { setTimeout as sleep } from 'node:timers/promises';
import { median } from './figures.ts';
import { fire, memoryOf, request } from './load.ts';
import { start } from './service.ts';
import { loadOf, type Setting } from './setting.ts';
import { checks, listPath } from './tenant.ts';

const STARTS = 5;
const REST_SECONDS = 10;

/** Row `start`, on existing data. An embedded service of the setting must have stopped before. */
export async function startRow({
  place,
  backend,
  report,
}: Pick<Setting, 'place' | 'backend' | 'report'>): Promise<void> {
  const times: number[] = [];
  for (let count = 0; count < STARTS; count++) {
    const service = await start(place);
    times.push(service.startMs);
    await service.stop();
  }
  const goal = backend === 'embedded' ? 2500 : 1000;
  const what = `start to the first healthy answer, ${backend}`;
  report({ what, value: median(times), unit: 'ms', is: '≤', goal });
}

/** Row `memory`: of an idle process, and after checks, lists and token exchanges. */
export async function memoryRow(setting: Setting): Promise<void> {
  const { place, tenant, policy, pace, report } = setting;
  const service = await start(place);
  try {
    await sleep(REST_SECONDS * 1000);
    const { now } = await memoryOf(service.pid);
    report({
      what: `memory at rest, ${REST_SECONDS} s after the start`,
      value: now,
      unit: 'MB',
      is: '≤',
      goal: 130,
    });
    const loads = [
      await checks(service, policy, 'named'),
      [request(listPath(policy.scope), { token: tenant.token })],
      policy.keys.map((body) => request('/api/auth/token', { body })),
    ];
    for (const requests of loads) await fire(loadOf({ service, place }, requests, 64), pace.seconds * 4);
    const after = await memoryOf(service.pid);
    report({ what: 'memory right after a load', value: after.now, unit: 'MB', is: '≤', goal: 300 });
  } finally {
    await service.stop();
  }
}
