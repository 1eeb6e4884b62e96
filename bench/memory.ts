/**
 * How much memory a million different questions leave behind: `npm run bench:memory` (`-- --quick` for a glance). The
 * real service on PostgreSQL is asked about 2,000 users in 500 projects, each pair once; every fifth question is about
 * the scope of the one user instead. Half of the users wear a role of their own with conditional permissions, which is
 * shared with nobody, and of all of them something is said. Prints the resident memory of the process before, after,
 * after a quiet minute and at its peak. It asserts nothing; the promise is 512 MB.
 */
import autocannon from 'autocannon';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { buildService, must, signUp, startService } from '../scripts/service.ts';
import { resourceIdOf, roleIdOf } from '../src/access/built-in.ts';
import { openPostgres } from '../src/db/open.ts';
import { rowsOf } from '../src/db/rows.ts';
import { postgresDatabase } from '../test/support/postgres.ts';

const USERS = 2000;
const PROJECTS = process.argv.includes('--quick') ? 10 : 500;
const CONNECTIONS = 32;
const QUIET_SECONDS = 60;
const adminUrl =
  process.env['DATABASE_URL'] ??
  process.env['TEST_DATABASE_URL'] ??
  'postgres://postgres@127.0.0.1:5432/postgres';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function memoryOf(pid: number): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const of = (name: string) =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024);
  return `${of('VmRSS')} MB resident, ${of('VmHWM')} MB at its peak`;
}

await buildService();
const postgres = await postgresDatabase(adminUrl, null);
const service = await startService({
  env: {
    SECURITY_RATE_LIMIT_ENABLED: 'false',
    LOG_LEVEL: 'warn',
    JWT_ACCESS_TOKEN_EXPIRATION_MINUTES: '60',
    DATABASE_URL: postgres.url,
  },
});
const database = openPostgres({
  url: postgres.url,
  poolMax: 1,
  acquireTimeoutMs: 5000,
  maxWaitMs: 5000,
  statementTimeoutMs: 600_000,
  onIdleError: () => undefined,
});
const { pool } = database;
const ids = async (table: string): Promise<string[]> => {
  const rows = await rowsOf<{ id: string }>(pool, sql`select id from ${sql.identifier(table)} order by id`);
  return rows.map(({ id }) => id);
};

try {
  const { token, organizationId } = await signUp(service);
  const scope = { tenant: 'organization', id: organizationId };
  const post = (path: string, body: object) =>
    must(`${service.base}/api${path}`, { token, body: { scope, ...body } });
  const permissionIds: string[] = [];
  for (const noun of ['Role', 'Group', 'Permission', 'Resource', 'Tag']) {
    for (const action of ['Query', 'Create', 'Update', 'Delete']) {
      const condition = { Equals: { 'user.metadata.team': `team of ${noun}` } };
      const about = { resourceId: resourceIdOf(noun), action, name: `${noun}:${action} of a team` };
      permissionIds.push((await post('/permissions', { ...about, condition })).id);
    }
  }
  const group = await post('/groups', { name: 'Team', permissionIds });

  // Straight into the tables: what is measured is asking.
  const own = sql`${organizationId}::uuid`;
  await pool.execute(sql`
    insert into roles (id, tenant_id, name, level)
    select gen_random_uuid(), ${own}, 'Role ' || n, 'organization' from generate_series(1, ${USERS / 2}) n`);
  await pool.execute(sql`
    insert into role_groups (tenant_id, role_id, group_id, to_tenant_id)
    select ${own}, id, ${group.id}::uuid, ${own} from roles where tenant_id = ${own}`);
  await pool.execute(sql`
    insert into users (id, name, is_managed, managed_by)
    select gen_random_uuid(), 'User ' || n, true, ${own} from generate_series(1, ${USERS}) n`);
  await pool.execute(sql`
    insert into organization_members (tenant_id, user_id, role_id, role_tenant_id, metadata)
    select ${own}, u.id, coalesce(r.id, ${roleIdOf('Organization Developer')}::uuid),
      coalesce(r.tenant_id, '00000000-0000-0000-0000-000000000000'), jsonb_build_object('team', 'red', 'note', repeat('x', 500))
    from (select id, row_number() over () as n from users where managed_by = ${own}) u
    left join (select id, tenant_id, row_number() over () as n from roles where tenant_id = ${own}) r on r.n = u.n`);
  await pool.execute(sql`
    with made as (insert into nodes (id, kind, parent_id)
      select gen_random_uuid(), 'project', ${own} from generate_series(1, ${PROJECTS}) returning id)
    insert into projects (id, owner_id, owner_kind, name, slug)
    select id, ${own}, 'organization', 'P', 'p-' || id from made`);
  await pool.execute(sql`analyze`);

  const users = await ids('users');
  const projects = await ids('projects');
  const pairs = USERS * PROJECTS;
  const bodyOf = (n: number): string => {
    const [user, project] = [users[n % USERS] as string, projects[Math.floor(n / USERS)] as string];
    const permission = { resource: 'Role', action: 'Query' };
    const about =
      n % 5 === 0
        ? { scope: { tenant: 'projectUser', id: `${project}:${user}` } }
        : {
            scope: { tenant: 'organizationProject', id: `${organizationId}:${project}` },
            subject: { userId: user },
          };
    return JSON.stringify({ permission, ...about });
  };

  await sleep(QUIET_SECONDS * 1000);
  say(`before: ${await memoryOf(service.pid)}`);
  let next = 0;
  const telling = setInterval(() => {
    void memoryOf(service.pid).then((memory) => say(`  ${next} questions: ${memory}`));
  }, 20_000);
  const result = await autocannon({
    url: `${service.base}/api/auth/is-authorized`,
    method: 'POST',
    connections: CONNECTIONS,
    amount: pairs,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    setupClient: (client) => {
      client.setBody(bodyOf(next++ % pairs));
      client.on('response', () => client.setBody(bodyOf(next++ % pairs)));
    },
  });
  clearInterval(telling);
  const { non2xx, errors, timeouts, requests } = result;
  say(
    `${pairs} questions, each another subject or scope, ${Math.round(requests.average)}/s, ${non2xx + errors + timeouts} failed`,
  );
  say(`after: ${await memoryOf(service.pid)}`);
  await sleep(QUIET_SECONDS * 1000);
  say(`after ${QUIET_SECONDS} quiet seconds: ${await memoryOf(service.pid)}`);
} finally {
  await service.stop();
  await database.close();
  await postgres.drop();
}
