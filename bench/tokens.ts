import { call, must } from '../scripts/service.ts';
import { newKey, newProject } from './fill.ts';
import { cpuSeconds, measure, median, type Measured } from './measure.ts';
import { opensslSigns, startEcho } from './references.ts';
import type { Setting } from './setting.ts';

/** Rows `exchange` and `refresh`: what is written, signed and committed for every token. */
const PROJECTS = 8;
const SESSIONS = 16;

export async function tokenRows(setting: Setting): Promise<void> {
  const { service, post, ada, pace, wanted, found, database } = setting;
  if (wanted('exchange')) {
    const bodies: string[] = [];
    for (let count = 1; count <= PROJECTS; count++) {
      const project = await newProject(post, ada, `Exchanged ${count}`);
      bodies.push(JSON.stringify(await newKey(post, project)));
    }
    const url = `${service.base}/api/auth/token`;
    const before = await opensslSigns(pace.seconds);
    const echo = await startEcho(0);
    const loads = [
      { url, bodies, pids: [service.pid], database: database?.url },
      { url: echo.tokenUrl, bodies, pids: [echo.pid] },
    ];
    const [measured, bare] = await measure(loads, pace).finally(() => echo.stop());
    const signs = median([before, await opensslSigns(pace.seconds)]);
    if (!measured) return;
    found({ row: 'exchange', what: 'a bare Fastify that signs, and asks and writes nothing', ...bare });
    found({
      row: 'exchange',
      what: 'exchange of an API key for a token',
      ...measured,
      goal: goalOf(measured, signs),
    });
  }
  if (wanted('refresh')) {
    found({ row: 'refresh', what: 'refresh of a session', ...(await refreshing(setting)) });
  }
}

const goalOf = ({ perSecond }: Measured, signs: number) => ({
  what: 'exchange of an API key, PostgreSQL',
  against: `RSA-2048 signatures of OpenSSL on all cores, ${Math.round(signs)}/s`,
  value: perSecond / signs,
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
