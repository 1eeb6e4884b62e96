/**
 * A flood of wrong sign-ins from different networks, half of them for existing addresses, and the service for others
 * meanwhile: `npm run bench:logins` (`-- --times=200` per second, `--seconds=10`, `--on=embedded`).
 */
import { countsOf, milliseconds } from './figures.ts';
import { request, send } from './load.ts';
import { onServices, printTable, readOptions } from './report.ts';
import { credentialsOf, newPerson } from './tenant.ts';

const options = readOptions();
const PER_SECOND = options.number('times', 200);
const SECONDS = options.number('seconds', 10);
const OTHERS_PER_SECOND = 20;
const NETWORKS = 5000;
const USERS = 20;

const rows = [['', 'a second', 'answers', 'served p50', 'p99', 'refused p99']];
const reports: object[] = [];

await onServices(
  options,
  async (backend, service) => {
    const { token, accountId } = await newPerson(service, 'ada');
    for (let count = 0; count < USERS; count++) await newPerson(service, `user-${count}`);
    const scope = { tenant: 'account', id: accountId };
    const guesses = Array.from({ length: NETWORKS }, (_, n) => {
      const email = n % 2 ? `missing-${n}@example.test` : `user-${n % USERS}@example.test`;
      const body = { ...credentialsOf(email), providerData: { password: 'wrong {n}' } };
      return request('/api/auth/login', { body, headers: [`x-forwarded-for: 10.0.${n >> 8}.${n & 255}`] });
    });
    const question = { permission: { resource: 'Project', action: 'Query' }, scope };
    const loads = {
      'wrong sign-ins': guesses,
      'health/live': [request('/health/live', {})],
      'is-authorized': [request('/api/auth/is-authorized', { token, body: question })],
      'GET /me': [request('/api/me', { token })],
    };
    const sendings = Object.entries(loads).map(async ([what, requests]) => {
      const isFlood = requests === guesses;
      const perSecond = isFlood ? PER_SECOND : OTHERS_PER_SECOND;
      const task = { kind: 'open', connections: isFlood ? 500 : 20, seconds: SECONDS, perSecond } as const;
      const { report } = await send({ ports: [service.port], requests, ...task });
      const { statuses, served, refused } = await report;
      const cells = [served.p50, served.p99, refused.p99].map(milliseconds);
      return {
        backend,
        what,
        statuses,
        row: [`${backend}: ${what}`, `${perSecond}`, countsOf(statuses), ...cells],
      };
    });
    for (const { row, ...report } of await Promise.all(sendings)) {
      rows.push(row);
      reports.push(report);
    }
  },
  { SECURITY_TRUSTED_PROXIES: '127.0.0.1' },
);
printTable(`${SECONDS} s of wrong sign-ins:`, rows);
await options.write('logins', { reports });
