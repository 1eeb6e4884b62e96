import { readFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newProject } from './fill.ts';
import { fire, measure, median, memoryOf } from './measure.ts';
import { question } from './questions.ts';
import { start, type Setting } from './setting.ts';

/** Rows `workers`, `start` and `memory`: services beside the one that the other rows use, on the same data. */
const STARTS = 3;
/** Before memory is looked at. */
const REST_MS = 30_000;

/**
 * Two workers and one, on the same question. Requests a second cannot double where the load generator has to have one
 * of the cores, so the promise is held against what a core yields: twice of it with two workers, less what they take
 * more for each request, the process that hands out connections included.
 */
export async function workerRows(setting: Setting): Promise<void> {
  const { service, post, ada, pace, wanted, found, database } = setting;
  if (!database || !wanted('workers')) return;
  const project = await newProject(post, ada, 'Two workers');
  const two = await start(database.url, { env: { WORKERS: '2' } });
  try {
    const pids = [two.pid, ...(await childrenOf(two.pid))];
    const load = {
      headers: { authorization: `Bearer ${ada.token}` },
      bodies: [JSON.stringify(question(project, 'conditional', ada.userId))],
    };
    const path = '/api/auth/is-authorized';
    const [one, both] = await measure(
      [
        { ...load, url: `${service.base}${path}`, pids: [service.pid] },
        { ...load, url: `${two.base}${path}`, pids },
      ],
      pace,
    );
    if (!one || !both) return;
    found({ row: 'workers', what: 'is-authorized, one process', ...one });
    found({
      row: 'workers',
      what: 'is-authorized, WORKERS=2',
      ...both,
      goal: {
        what: 'two processes on two cores, is-authorized',
        against: `one process, by processor time for a request; by requests a second on these cores: ${(both.perSecond / one.perSecond).toFixed(2)}`,
        value: (2 * one.cpuMicros) / both.cpuMicros,
        unit: '',
        bound: 1.7,
        is: 'at least',
      },
    });
  } finally {
    await two.stop();
  }
}

const childrenOf = async (pid: number): Promise<number[]> => {
  for (;;) {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    const pids = children.split(' ').filter(Boolean).map(Number);
    // The second begins when the first listens.
    if (pids.length === 2) return pids;
    await sleep(50);
  }
};

/** Until the first healthy answer, with data that is there; and what a process that serves nobody takes. */
export async function startRows({ wanted, found, database, post, ada, pace }: Setting): Promise<void> {
  const where = database ? 'PostgreSQL' : 'embedded';
  const dataDir = await mkdtemp(join(tmpdir(), 'doorward-start-'));
  try {
    if (wanted('start')) {
      const waits: number[] = [];
      // The first one makes an embedded database.
      for (let count = 0; count <= STARTS; count++) {
        const began = performance.now();
        const service = await start(database?.url, { dataDir });
        if (count > 0) waits.push(performance.now() - began);
        await service.stop();
      }
      const what = `start to the first healthy answer, ${where}, existing data`;
      const bound = database ? 1000 : 2500;
      const goal = { what, value: median(waits), unit: ' ms' as const, bound, is: 'at most' as const };
      found({ row: 'start', what, goal });
    }
    if (wanted('memory') && database) {
      const service = await start(database.url, { dataDir });
      const atRest = async (): Promise<number> => {
        await sleep(REST_MS);
        return (await memoryOf(service.pid)).now;
      };
      const before = await atRest();
      const project = await newProject(post, ada, 'Remembered');
      const load = {
        url: `${service.base}/api/auth/is-authorized`,
        headers: { authorization: `Bearer ${ada.token}` },
        bodies: [JSON.stringify(question(project, 'conditional', ada.userId))],
        pids: [service.pid],
      };
      await fire(load, { amount: pace.checks });
      const after = await atRest();
      await service.stop();
      const row = 'memory';
      const what = 'memory at rest, PostgreSQL';
      found({ row, what, goal: { what, value: before, unit: ' MB', bound: 130, is: 'at most' } });
      const afterwards = `memory after ${pace.checks.toLocaleString('en')} checks, PostgreSQL`;
      found({
        row,
        what: afterwards,
        goal: { what: afterwards, value: after, unit: ' MB', bound: 300, is: 'at most' },
      });
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
