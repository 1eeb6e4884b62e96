/**
 * Measures whether response times reveal that an address is registered: the same calls for existing and for missing
 * addresses, in random order, one after the other: `npm run bench:timing` (`-- --quick`, `--on=embedded`).
 */
import { randomBytes } from 'node:crypto';
import { call, mailedToken } from '../scripts/service.ts';
import { milliseconds, quantilesOf } from './figures.ts';
import { onServices, printTable, readOptions, say } from './report.ts';
import { callOrThrow, type Service } from './service.ts';

const options = readOptions();
const TRIES = options.quick ? 40 : 200;
const USERS = 20;
const GOAL_MS = 5;
/** Higher than the failures that the measured calls cause for each user. */
const LOCKOUT = TRIES / USERS + 1;

const states = ['verified', 'unverified', 'locked out'] as const;
type State = (typeof states)[number];

interface Case {
  readonly path: string;
  readonly status: number;
  readonly state: State;
}

const cases: readonly Case[] = [
  { path: 'auth/login', status: 401, state: 'verified' },
  { path: 'auth/login', status: 401, state: 'locked out' },
  { path: 'auth/request-password-reset', status: 202, state: 'verified' },
  { path: 'auth/resend-verification', status: 202, state: 'unverified' },
  { path: 'auth/resend-verification', status: 202, state: 'verified' },
  { path: 'auth/register', status: 202, state: 'verified' },
  { path: 'auth/register', status: 202, state: 'unverified' },
];

const random = (): string => randomBytes(6).toString('hex');
const signIn = (email: string) => ({
  provider: 'email',
  providerId: email,
  providerData: { password: `wrong ${random()}` },
});
const bodyOf = ({ path }: Case, email: string) => (/login|register/.test(path) ? signIn(email) : { email });

async function register({ base, mailDir }: Service, state: State): Promise<string> {
  const email = `${random()}@example.test`;
  await callOrThrow(`${base}/api/auth/register`, { body: signIn(email) });
  if (state === 'unverified') return email;
  await callOrThrow(`${base}/api/auth/verify-email`, { body: { token: await mailedToken(mailDir, email) } });
  for (let count = 0; state === 'locked out' && count < LOCKOUT; count++)
    await call(`${base}/api/auth/login`, { body: signIn(email) });
  return email;
}

async function timesOf({ base }: Service, item: Case, users: readonly string[]) {
  const times: Record<'existing' | 'missing', number[]> = { existing: [], missing: [] };
  for (let tries = 0; tries < TRIES; tries++) {
    // Random order, so that background work of a call does not delay only one kind.
    const kinds =
      Math.random() < 0.5 ? (['existing', 'missing'] as const) : (['missing', 'existing'] as const);
    for (const kind of kinds) {
      const email = kind === 'existing' ? (users[tries % users.length] ?? '') : `${random()}@example.test`;
      const began = performance.now();
      const { status, text } = await call(`${base}/api/${item.path}`, { body: bodyOf(item, email) });
      times[kind].push(performance.now() - began);
      if (status !== item.status) throw new Error(`${item.path} answered ${status}: ${text}`);
    }
  }
  return { existing: quantilesOf(times.existing).p50, missing: quantilesOf(times.missing).p50 };
}

const rows = [['call, address', 'median existing', 'missing', 'difference', `< ${GOAL_MS} ms`]];
await onServices(
  options,
  async (backend, service) => {
    const users: Record<State, string[]> = { verified: [], unverified: [], 'locked out': [] };
    for (const state of states)
      while (users[state].length < USERS) users[state].push(await register(service, state));
    for (const case_ of cases) {
      const { existing, missing } = await timesOf(service, case_, users[case_.state]);
      const difference = Math.abs(existing - missing);
      const cells = [existing, missing, difference].map(milliseconds);
      rows.push([
        `${backend}: ${case_.path}, ${case_.state}`,
        ...cells,
        difference < GOAL_MS ? 'met' : 'missed',
      ]);
      say(rows.at(-1)?.join('  ') ?? '');
    }
  },
  {
    AUTH_LOCKOUT_MAX_FAILURES: String(LOCKOUT),
    AUTH_REGISTRATION_MODE: 'verifyFirst',
  },
);
printTable(`${TRIES} calls of each kind, in random order:`, rows);
