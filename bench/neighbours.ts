/**
 * A noisy neighbour: `npm run bench:neighbours` (`-- --seconds=30`, `--on=embedded`, `--dir=<checkout>`). An API key of
 * tenant A sends the most expensive write, a resource with 50 actions and a permission for each, on 100 connections. A
 * member of A does the same with their session, and after a third of the time an owner of A removes them. Meanwhile tenant
 * B makes five calls per second: a list, a write, a check, a list with relations, and `me`. Goals: no 503 for B, and a p99
 * of 1.5 s.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { call, mailedToken } from '../scripts/service.ts';
import { countsOf, milliseconds } from './figures.ts';
import { request, send, type Sending } from './load.ts';
import { onServices, printTable, readOptions } from './report.ts';
import { callOrThrow, type Service } from './service.ts';
import {
  addRoles,
  builtInRole,
  exchange,
  inQuery,
  listPath,
  newKey,
  newPerson,
  newProject,
  newRoleList,
  newTenant,
  type Person,
  type Scope,
  type Tenant,
} from './tenant.ts';

const options = readOptions();
const SECONDS = options.number('seconds', options.quick ? 12 : 30);
const CONNECTIONS = 100;
const MEMBER_CONNECTIONS = 10;
const CALLS_PER_SECOND = 5;

const ACTIONS = Array.from({ length: 50 }, (_, index) => `action-${index + 1}`);

/** Sends writes in closed loops: each connection sends again after its answer. */
function flood(
  { port }: Service,
  token: string,
  scope: Scope,
  prefix: string,
  connections: number,
): Promise<Sending> {
  const body = { scope, name: 'Flood', slug: `${prefix}-{n}`, actions: ACTIONS, createPermissions: true };
  const requests = [request('/api/resources', { token, body })];
  return send({ ports: [port], requests, kind: 'closed', connections, seconds: SECONDS });
}

/** A user who accepts an invitation to the organization and may create resources there. */
async function newMember(service: Service, { scope, token, post }: Tenant): Promise<Person> {
  const member = await newPerson(service, 'member');
  const roleId = await builtInRole(service, { token, scope }, 'Organization Developer');
  await mailedToken(service.mailDir, member.email); // That of the registration arrives first.
  await post('organization-invitations/invite', { scope, email: member.email, roleId });
  const invitation = await mailedToken(service.mailDir, member.email);
  await callOrThrow(`${service.base}/api/organization-invitations/accept`, {
    token: member.token,
    body: { token: invitation },
  });
  return member;
}

/** Sends a list, a write, a check, a list with relations and `me`, alternately at fixed times. */
function callAsNeighbour({ port }: Service, { token, scope }: Tenant, listed: Scope): Promise<Sending> {
  const question = { permission: { resource: 'Tag', action: 'Create' }, scope };
  const requests = [
    request(`/api/tags?${inQuery(scope)}`, { token }),
    request('/api/tags', { token, body: { scope, name: 'Tag {n}' } }),
    request('/api/auth/is-authorized', { token, body: question }),
    request(listPath(listed), { token }),
    request('/api/me', { token }),
  ];
  const load = { kind: 'open', connections: 50, seconds: SECONDS, perSecond: CALLS_PER_SECOND } as const;
  return send({ ports: [port], requests, ...load });
}

/** Removes a member. @returns how long it took, the number of tries, and when it was done */
async function remove({ base }: Service, { token, scope }: Tenant, userId: string) {
  const began = performance.now();
  for (let tries = 1; ; tries++) {
    const url = `${base}/api/organization-members/${userId}?${inQuery(scope)}`;
    const { status, text } = await call(url, { token, method: 'DELETE' });
    if (status === 200) return { ms: performance.now() - began, tries, doneAt: Date.now() };
    if (status !== 503) throw new Error(`the removal answered ${status}: ${text}`);
    await sleep(200);
  }
}

const head =
  "|B's answers|served p50|p99|slowest|removal|member served after it|the key's answers|the member's";
const rows = [head.split('|')];
const runs: object[] = [];
await onServices(options, async (backend, service) => {
  const noisy = await newTenant(service, 'noisy');
  const { scope } = await newProject(noisy, 'Flooded');
  const admin = await builtInRole(service, { token: noisy.token, scope }, 'Project Admin');
  const keyToken = await exchange(service, await newKey(noisy, scope, admin));
  const member = await newMember(service, noisy);
  const quiet = await newTenant(service, 'quiet');
  const listed = await newProject(quiet, 'Listed');
  await addRoles(quiet, await newRoleList(quiet, listed.scope), 60);

  const sendings = [
    await flood(service, keyToken, scope, 'key', CONNECTIONS),
    await flood(service, member.token, scope, 'member', MEMBER_CONNECTIONS),
    await callAsNeighbour(service, quiet, listed.scope),
  ];
  await sleep((SECONDS * 1000) / 3);
  const removal = await remove(service, noisy, member.userId);
  const [ofKey, ofMember, ofB] = await Promise.all(sendings.map(({ report }) => report));
  if (!ofKey || !ofMember || !ofB) return;
  const servedAfterMs = Math.max(0, ofMember.lastSuccessSentAt - removal.doneAt);
  rows.push([
    backend,
    countsOf(ofB.statuses),
    ...[ofB.served.p50, ofB.served.p99, ofB.slowest].map(milliseconds),
    `${milliseconds(removal.ms)}, tries: ${removal.tries}`,
    milliseconds(servedAfterMs),
    ...[ofKey, ofMember].map(({ statuses }) => countsOf(statuses)),
  ]);
  runs.push({ backend, seconds: SECONDS, removal, servedAfterMs, ofB, ofKey, ofMember });
});
printTable('Tenant B beside a flood of tenant A (goals: 0 × 503, p99 1.5 s):', rows);
await options.write('neighbours', { runs });
