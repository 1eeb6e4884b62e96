import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { median } from './figures.ts';
import { fire, measure, request } from './load.ts';
import { callOrThrow } from './service.ts';
import { loadOf, type Setting } from './setting.ts';
import { credentialsOf, newPerson, type Person } from './tenant.ts';

const CONNECTIONS = 64;
const PEOPLE = 20;

/** Rows `exchange`: 200 API keys alternately, at the endpoint of this API and at that of OAuth. */
export async function exchangeRows(setting: Setting): Promise<void> {
  const { keys } = setting.policy;
  const exchanges = keys.map((body) => request('/api/auth/token', { body }));
  await exchangeRow(setting, 'token exchange, 200 keys', exchanges);
  const grants = keys.map(({ clientId, clientSecret }) =>
    request('/api/auth/project/token', {
      body: { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
    }),
  );
  await exchangeRow(setting, 'client_credentials, 200 keys', grants);
}

/** Compares the rate with the signatures of OpenSSL on the same cores, in alternating rounds. */
async function exchangeRow(setting: Setting, what: string, requests: readonly string[]): Promise<void> {
  const { pace, report } = setting;
  const signs: number[] = [];
  const [measured] = await measure([loadOf(setting, requests, CONNECTIONS)], pace, async () => {
    signs.push(await opensslSigns());
  });
  if (!measured) return;
  const value = median(measured.rates.map((rate, round) => rate / (signs[round] ?? rate)));
  const unit = `of openssl, ${Math.round(median(signs)).toLocaleString('en')}/s` as const;
  report({ what, value, unit, is: '≥', goal: 0.35, ...measured });
}

/** RSA-2048 signatures per second on all cores. */
async function opensslSigns(): Promise<number> {
  const args = ['speed', '-seconds', '1', '-multi', String(availableParallelism()), 'rsa2048'];
  const { stdout } = await promisify(execFile)('openssl', args);
  // rsa 2048 bits 0.000325s 0.000009s   3072.0 105431.0
  const signs = /rsa\s*2048 bits\s+\S+\s+\S+\s+([\d.]+)/.exec(stdout)?.[1];
  if (signs === undefined) throw new Error(`openssl speed printed: ${stdout}`);
  return Number(signs);
}

/** Rows `me` and `refresh`, with the sessions of 20 users. */
export async function sessionRows(setting: Setting): Promise<void> {
  const { service, pace, wants, report } = setting;
  const people: Person[] = [];
  while (people.length < PEOPLE) people.push(await newPerson(service, `person-${people.length}`));
  if (wants('me')) {
    const requests = people.map(({ token }) => request('/api/me', { token }));
    const [measured] = await measure([loadOf(setting, requests, CONNECTIONS)], pace);
    if (measured)
      report({ what: 'GET /me', value: measured.perSecond, unit: '/s', is: '≥', goal: 1500, ...measured });
  }
  if (!wants('refresh')) return;
  const sessions: string[] = [];
  for (let count = 0; count < 2 * PEOPLE; count++) {
    const body = credentialsOf(people[count % PEOPLE]?.email ?? '');
    const { accessToken, refreshToken } = await callOrThrow<Tokens>(`${service.base}/api/auth/login`, {
      body,
    });
    sessions.push(request('/api/auth/refresh', { body: { accessToken, refreshToken } }));
  }
  // One long round, because reusing a refresh token of an earlier round would end its session.
  const load = { ...loadOf(setting, sessions, sessions.length), kind: 'refresh' as const };
  const measured = await fire(load, pace.seconds * pace.rounds);
  report({ what: 'refresh', value: measured.perSecond, unit: '/s', is: '≥', goal: 600, ...measured });
}

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}
