/**
 * `doorward users import` of a large file, killed once on the way: `npm run bench:import` (`-- --rows=100000`,
 * `--on=embedded`).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onServices, printTable, readOptions, say } from './report.ts';
import { root, type Service } from './service.ts';
import { newProject, newTenant } from './tenant.ts';

const options = readOptions();
const USERS = options.number('rows', 100_000);
const SAMPLE = 20_000;
/** A hash of bcrypt with cost 10; whose does not matter. */
const HASH = '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy';

const rows = [['', 'users', 'killed after', 'rest', 'users a second', 'again', 'command', 'service']];
const reports: object[] = [];

interface Ended {
  readonly seconds: number;
  readonly megabytes: number;
  readonly output: string;
}

await onServices(
  options,
  async (backend, service) => {
    const owner = await newTenant(service, 'ada');
    const { scope } = await newProject(owner, 'Shop');
    const path = join(service.mailDir, 'users.jsonl');
    const lines = Array.from({ length: USERS }, (_, at) =>
      JSON.stringify({
        email: `user-${at}@import.test`,
        emailVerified: true,
        passwordHash: HASH,
        roles: ['Project Viewer'],
      }),
    );
    await writeFile(path, lines.join('\n'));
    const environment = { DOORWARD_TOKEN: owner.token, DOORWARD_SCOPE: `${scope.tenant}:${scope.id}` };
    const sampled = Math.min(SAMPLE, USERS / 2);
    const cut = await importing(service, path, environment, sampled);
    const rest = await importing(service, path, environment);
    say(`${backend}: ${rest.output.trim()}`);
    const again = await importing(service, path, environment);
    const memory = await residentOf(service.pid);
    const { created } = JSON.parse(rest.output) as { created: number };
    reports.push({ backend, users: USERS, cut, rest, again, serviceMegabytes: memory });
    rows.push([
      backend,
      `${USERS}`,
      `${cut.seconds} s`,
      `${rest.seconds} s`,
      `${Math.round(created / rest.seconds)}`,
      `${again.seconds} s`,
      `${rest.megabytes} MB`,
      `${memory} MB`,
    ]);
  },
  { OPERATORS: 'ada@example.test', NODE_ENV: 'development' },
);
printTable(`Import of ${USERS} users:`, rows);
await options.write('import', { reports });

/** Runs the command; `killedAt`: kills it once so many users are imported. */
async function importing(
  { base }: Service,
  path: string,
  environment: Readonly<Record<string, string>>,
  killedAt?: number,
): Promise<Ended> {
  const since = performance.now();
  const main = join(root, 'packages/server/dist/doorward.js');
  const child = spawn(process.execPath, [main, 'users', 'import', path, '--json'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DOORWARD_URL: base, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (part: Buffer) => (output += part.toString()));
  const ended = once(child, 'close');
  let megabytes = 0;
  const watch = setInterval(() => {
    void residentOf(child.pid ?? 0).then((now) => (megabytes = Math.max(megabytes, now)));
  }, 200);
  if (killedAt !== undefined) {
    while ((await importedSoFar(base, environment)) < killedAt && child.exitCode === null);
    child.kill('SIGKILL');
  }
  await ended;
  clearInterval(watch);
  return { seconds: Math.round((performance.now() - since) / 100) / 10, megabytes, output };
}

async function importedSoFar(base: string, environment: Readonly<Record<string, string>>): Promise<number> {
  const [tenant = '', id = ''] = environment['DOORWARD_SCOPE']?.split(/:(.*)/s) ?? [];
  const url = `${base}/api/users?tenant=${tenant}&scopeId=${id}&limit=1`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${environment['DOORWARD_TOKEN']}` } });
  const { data } = (await answer.json()) as { data: { totalCount: number } };
  return data.totalCount;
}

/** Of a process, in megabytes; 0 when it is gone. */
async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
}
