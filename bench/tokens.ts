import { call, must } from '../scripts/service.ts';
import { standApart } from './apart.ts';
import { newKey, newProject, type Project } from './fill.ts';
import { cpuSeconds, measure, median, type InTurn, type Measured } from './measure.ts';
import { opensslSigns, startEcho } from './references.ts';
import type { Setting } from './setting.ts';

/** Rows `exchange` and `refresh`: what is written, signed and committed for every token. */
const PROJECTS = 8;
/** So many that none comes again within the second in which its token stays the same. */
const KEYS = 4000;
const SESSIONS = 16;
const AGAIN = 'eight keys that come again';
const ANOTHER = 'each another key';

export async function tokenRows(setting: Setting): Promise<void> {
  const { wanted, found } = setting;
  if (wanted('exchange')) await exchanging(setting);
  if (wanted('refresh')) {
    found({ row: 'refresh', what: 'refresh of a session', ...(await refreshing(setting)) });
  }
}

async function exchanging({ service, post, ada, pace, found, database }: Setting): Promise<void> {
  const projects: Project[] = [];
  for (let count = 1; count <= PROJECTS; count++)
    projects.push(await newProject(post, ada, `Exchanged ${count}`));
  const bodies: string[] = [];
  while (bodies.length < KEYS) {
    const made = projects.map((project) => newKey(post, project));
    bodies.push(...(await Promise.all(made)).map((key) => JSON.stringify(key)));
  }
  const url = `${service.base}/api/auth/token`;
  const served = { url, pids: [service.pid], database: database?.url };
  const again = { ...served, bodies: bodies.slice(0, PROJECTS) };
  const loads = [again, { ...served, bodies }];
  const which = [AGAIN, ANOTHER];
  const tell = (rows: readonly InTurn[], signs: readonly number[], where: string) =>
    which.forEach((keys, place) => {
      const measured = rows[place] as InTurn;
      const goal = goalOf(`exchange of API keys, PostgreSQL: ${keys}`, measured, signs, where);
      found({ row: 'exchange', what: `exchange of API keys, ${where}: ${keys}`, ...measured, goal });
    });

  const onAll: number[] = [];
  const beside = await measure(loads, pace, async () => void onAll.push(await opensslSigns(pace.seconds)));
  tell(beside, onAll, 'all cores beside its load');

  const echo = await startEcho(0);
  const apart = await standApart([service.pid, echo.pid], database?.url);
  const bare = { url: echo.tokenUrl, bodies: again.bodies, pids: [echo.pid] };
  try {
    if (!apart) return;
    const onOne: number[] = [];
    const rows = await measure([...loads, bare], pace, async () => {
      await apart.hold();
      onOne.push(await opensslSigns(pace.seconds, apart.servingCore));
    });
    tell(rows, onOne, 'one core');
    const what = 'a bare Fastify that signs, one core, and asks and writes nothing';
    found({ row: 'exchange', what, ...(rows[2] as InTurn) });
  } finally {
    await apart?.end();
    await echo.stop();
  }
}

/** By turns: the median of the rounds. */
const goalOf = (what: string, { rates }: InTurn, signs: readonly number[], where: string) => ({
  what,
  against: `RSA-2048 signatures of OpenSSL, ${where}, ${Math.round(median(signs))}/s`,
  value: median(rates.map((rate, round) => rate / (signs[round] ?? rate))),
  unit: '' as const,
  bound: 0.6,
  is: 'at least' as const,
});

/** Each token is good once, so every session asks with what it was last answered. */
async function refreshing({ service, pace }: Setting): Promise<Measured> {
  interface Tokens {
    readonly accessToken: string;
    readonly refreshToken: string;
  }
  const credentials = {
    provider: 'email',
    providerId: 'ada@example.test',
    providerData: { password: 'three-lanterns-in-the-harbour' },
  };
  const sessions: Tokens[] = [];
  for (let count = 0; count < SESSIONS; count++) {
    sessions.push(await must<Tokens>(`${service.base}/api/auth/login`, { body: credentials }));
  }
  const waits: number[] = [];
  const before = await cpuSeconds(service.pid);
  const began = performance.now();
  const lengthMs = pace.seconds * pace.rounds * 1000;
  await Promise.all(
    sessions.map(async (last) => {
      for (let tokens = last; performance.now() - began < lengthMs;) {
        const { accessToken, refreshToken } = tokens;
        const sent = performance.now();
        const reply = await call<Tokens>(`${service.base}/api/auth/refresh`, {
          body: { accessToken, refreshToken },
        });
        if (reply.status !== 200) throw new Error(`a refresh answered ${reply.status}: ${reply.text}`);
        waits.push(performance.now() - sent);
        tokens = reply.data;
      }
    }),
  );
  const took = (performance.now() - began) / 1000;
  const spent = (await cpuSeconds(service.pid)) - before;
  waits.sort((a, b) => a - b);
  return {
    perSecond: waits.length / took,
    p50: waits[Math.floor(waits.length / 2)] ?? 0,
    p99: waits[Math.floor(waits.length * 0.99)] ?? 0,
    cpuMicros: (spent * 1e6) / waits.length,
    databaseCpuMicros: null,
  };
}
