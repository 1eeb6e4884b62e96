/**
 * The largest questions that the limits allow, one after the other, with the calls of another tenant beside them:
 * `npm run bench:largest` (`-- --seconds=5`, `--on=embedded`, `--dir=<checkout>`). Goal: no call of the other tenant waits
 * for 250 ms.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  largestQuestions,
  roleNames,
  userMetadata,
  widePolicy,
} from '../packages/server/test/support/cases/largest-questions.ts';
import { createClient } from '../packages/node/src/client.ts';
import { countsOf, milliseconds } from './figures.ts';
import { forgetPeak, memoryOf, request, send } from './load.ts';
import { onServices, printTable, readOptions, say } from './report.ts';
import type { Service } from './service.ts';
import { inQuery, newProject, newTenant, type Tenant } from './tenant.ts';

const options = readOptions();
const SECONDS = options.number('seconds', 5);
const CALLS_PER_SECOND = 20;
const LONGEST_MS = 120_000;

/** The project with the policy, and a user with its roles. */
async function newWorld(tenant: Tenant, api: ReturnType<typeof createClient>['api']) {
  const { id: projectId, scope } = await newProject(tenant, 'Wide');
  await api.applyPolicy({ id: projectId, scope, policy: widePolicy } as never);
  const { items } = await api.roles({ scope } as never);
  const roleIds = items.filter(({ name }) => roleNames.includes(name)).map(({ id }) => id);
  const user = { scope, name: 'Worker', roleIds, metadata: userMetadata };
  const { id: userId } = await api.createUser(user as never);
  return { scope, projectId, userId };
}

/** A check and a list, alternately at fixed times. */
const neighbourCalls = ({ port }: Service, { token, scope }: Tenant) => {
  const question = { permission: { resource: 'Tag', action: 'Create' }, scope };
  const requests = [
    request('/api/auth/is-authorized', { token, body: question }),
    request(`/api/tags?${inQuery(scope)}`, { token }),
  ];
  return send({
    ...{ ports: [port], requests, kind: 'open', connections: 20 },
    ...{ seconds: SECONDS, perSecond: CALLS_PER_SECOND },
  });
};

const rows = [['', 'question', 'its answer', 'took', "neighbour's answers", 'slowest', 'peak memory']];
const runs: object[] = [];
await onServices(options, async (backend, service) => {
  const tenant = await newTenant(service, 'wide');
  const bounds = { timeoutMs: LONGEST_MS, deadlineMs: LONGEST_MS, retries: 0 };
  const { api } = createClient({ url: service.base, token: tenant.token, ...bounds });
  const world = await newWorld(tenant, api);
  const neighbour = await newTenant(service, 'neighbour');
  for (const [what, { name, input }] of largestQuestions) {
    say(what);
    await forgetPeak(service.pid);
    const { report } = await neighbourCalls(service, neighbour);
    await sleep(500);
    const began = performance.now();
    const ask = api[name as 'isAuthorized'] as (input: never) => Promise<unknown>;
    const answer = await ask(input(world) as never).then(
      () => '200',
      ({ status, code }: { status?: number; code?: string }) => `${status ?? ''} ${code}`.trim(),
    );
    const took = performance.now() - began;
    const { statuses, slowest } = await report;
    const { peak } = await memoryOf(service.pid);
    const figures = { answer, tookMs: took, slowestMs: slowest, peakMb: Math.round(peak) };
    rows.push([
      ...[backend, what, answer, milliseconds(took), countsOf(statuses), milliseconds(slowest)],
      `${figures.peakMb} MB`,
    ]);
    runs.push({ backend, what, statuses, ...figures });
  }
});
printTable('The largest questions, and calls of another tenant beside them (goal: none over 250 ms):', rows);
await options.write('largest', { runs });
