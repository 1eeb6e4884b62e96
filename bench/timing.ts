/**
 * Whether the time of an answer tells who is known: the same call for addresses that exist and for such that do not, in
 * random order, one after the other. `npm run bench:timing` (`-- --quick` for a glance). It asserts nothing: figures of
 * a busy machine are no verdict.
 *
 * On PostgreSQL when TEST_DATABASE_URL is set, else on the embedded database.
 */
import { randomBytes } from 'node:crypto';
import { buildService, call, mailedToken, must, startService, type Service } from '../scripts/service.ts';
import { postgresDatabase } from '../test/support/postgres.ts';

const TRIES = process.argv.includes('--quick') ? 40 : 200;
const USERS = 20;
const GOAL_MS = 5;

/** Above what the first question costs each user. */
const LOCKOUT = TRIES / USERS + 1;

type Known = 'verified' | 'unverified' | 'lockedOut';

interface Question {
  readonly path: string;
  readonly status: number;
  readonly known: Known;
  readonly body: (address: string) => unknown;
}

const signIn = (address: string, password = `wrong ${randomBytes(8).toString('hex')}`) => ({
  provider: 'email',
  providerId: address,
  providerData: { password },
});
const questions: readonly Question[] = [
  { path: 'auth/login', status: 401, known: 'verified', body: (address) => signIn(address) },
  { path: 'auth/login', status: 401, known: 'lockedOut', body: (address) => signIn(address) },
  { path: 'auth/request-password-reset', status: 202, known: 'verified', body: (email) => ({ email }) },
  { path: 'auth/resend-verification', status: 202, known: 'unverified', body: (email) => ({ email }) },
  { path: 'auth/resend-verification', status: 202, known: 'verified', body: (email) => ({ email }) },
  { path: 'auth/register', status: 202, known: 'verified', body: (address) => signIn(address) },
  { path: 'auth/register', status: 202, known: 'unverified', body: (address) => signIn(address) },
];

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const newAddress = (): string => `${randomBytes(6).toString('hex')}@example.test`;

async function register({ base, mailDir }: Service, known: Known): Promise<string> {
  const address = newAddress();
  await must(`${base}/api/auth/register`, { body: signIn(address) });
  if (known === 'unverified') return address;
  await must(`${base}/api/auth/verify-email`, { body: { token: await mailedToken(mailDir, address) } });
  if (known === 'lockedOut') {
    const wrong = () => call(`${base}/api/auth/login`, { body: signIn(address) });
    await Promise.all(Array.from({ length: LOCKOUT }, wrong));
  }
  return address;
}

async function millisecondsOf({ base }: Service, question: Question, address: string): Promise<number> {
  const began = performance.now();
  const { status, text } = await call(`${base}/api/${question.path}`, { body: question.body(address) });
  const took = performance.now() - began;
  if (status !== question.status) throw new Error(`${question.path} answered ${status}: ${text}`);
  return took;
}

interface Times {
  readonly existing: number[];
  readonly missing: number[];
}

async function measure(service: Service, question: Question, users: readonly string[]): Promise<Times> {
  const times: Times = { existing: [], missing: [] };
  // Every pair in an order of its own: what one call leaves to do in the background must not meet one kind alone.
  for (let tried = 0; tried < TRIES; tried++) {
    const kinds = ['existing', 'missing'] as const;
    for (const kind of Math.random() < 0.5 ? kinds : [...kinds].reverse()) {
      const address = kind === 'existing' ? (users[tried % users.length] ?? '') : newAddress();
      times[kind].push(await millisecondsOf(service, question, address));
    }
  }
  return times;
}

const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
};

function rowOf({ path, known }: Question, { existing, missing }: Times): string[] {
  const [p50, p95] = [0.5, 0.95].map((share) => [quantile(existing, share), quantile(missing, share)]);
  const difference = Math.abs((p50?.[0] ?? 0) - (p50?.[1] ?? 0));
  const told = (pair: readonly number[] = []) => pair.map((value) => value.toFixed(1)).join(' / ');
  return [
    `${path}, ${known}`,
    told(p50),
    told(p95),
    `${difference.toFixed(1)} ms`,
    difference < GOAL_MS ? 'met' : 'missed',
  ];
}

await buildService();
const adminUrl = process.env['TEST_DATABASE_URL'];
const database = adminUrl ? await postgresDatabase(adminUrl, null) : null;
const rows = [
  ['call, existing address', 'median existing / missing', 'p95', 'difference', `< ${GOAL_MS} ms`],
];
try {
  const service = await startService({
    env: {
      SECURITY_RATE_LIMIT_ENABLED: 'false',
      AUTH_LOCKOUT_MAX_FAILURES: String(LOCKOUT),
      AUTH_REGISTRATION_MODE: 'verifyFirst',
      ...(database ? { DATABASE_URL: database.url } : {}),
    },
  });
  try {
    const users: Record<Known, string[]> = { verified: [], unverified: [], lockedOut: [] };
    for (let count = 0; count < USERS; count++) {
      for (const known of ['verified', 'unverified', 'lockedOut'] as const) {
        users[known].push(await register(service, known));
      }
    }
    for (const question of questions) {
      const times = await measure(service, question, users[question.known]);
      rows.push(rowOf(question, times));
      say(rows.at(-1)?.join('  ') ?? '');
    }
  } finally {
    await service.stop();
  }
} finally {
  await database?.drop();
}
const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
process.stdout.write(
  `\n${TRIES} calls of each kind, in random order, ${database ? 'PostgreSQL' : 'embedded'}.\n\n${lines.join('\n')}\n`,
);
