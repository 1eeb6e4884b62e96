import { once } from 'node:events';
import { measure, ratioOf } from './load.ts';
import { fillRoles } from './lists.ts';
import { buildScript, callOrThrow, spawnChild, start } from './service.ts';
import { loadOf, type Setting } from './setting.ts';
import { checks, newPolicy, newRoleList } from './tenant.ts';

const CONNECTIONS = 64;
const MANY_ROLES = 10_000;

/** Row `is-authorized`: compared with a bare echo in alternating rounds, and again in a tenant with 10,000 roles. */
export async function checkRows(setting: Setting): Promise<void> {
  const { backend, service, tenant, policy, pace, report, place } = setting;
  const cases = [
    { what: 'a backend asks about 200 users', requests: await checks(service, policy, 'named') },
    { what: '200 tokens ask for themselves', requests: await checks(service, policy, 'own') },
  ];
  if (place.databaseUrl !== null) {
    const crowded = await newPolicy(service, tenant, 'Crowded');
    const list = await newRoleList(tenant, crowded.scope);
    await fillRoles(place.databaseUrl, list, MANY_ROLES);
    await tenant.post('tags', { scope: crowded.scope, name: 'Filled' });
    const what = 'a backend asks about 200 users, 10,000 roles in the tenant';
    cases.push({ what, requests: await checks(service, crowded, 'named') });
  }
  const echo = await startEcho(await answerBytes(setting));
  try {
    const loads = cases.map(({ requests }) => loadOf(setting, requests, CONNECTIONS));
    const [bare, ...measured] = await measure(
      [{ ...loadOf(setting, cases[0]?.requests ?? [], CONNECTIONS), ...echo, databaseUrl: null }, ...loads],
      pace,
    );
    if (!bare) return;
    report({ what: `bare Fastify echo, beside ${backend}`, value: bare.perSecond, unit: '/s', ...bare });
    for (const [index, item] of measured.entries()) {
      const what = `is-authorized, ${backend}: ${cases[index]?.what}`;
      report({ what, value: ratioOf(item, bare), unit: 'of the echo', is: '≥', goal: 0.5, ...item });
    }
  } finally {
    await echo.stop();
  }
}

async function answerBytes({ service, policy }: Setting): Promise<number> {
  const body = { permission: { resource: 'invoice', action: 'action-1' }, scope: policy.scope };
  const data = await callOrThrow(`${service.base}/api/auth/is-authorized`, {
    token: policy.keyTokens[0] ?? '',
    body,
  });
  return JSON.stringify({ data }).length;
}

async function startEcho(responseBytes: number) {
  const { child, ended } = spawnChild(process.execPath, [await buildScript('echo')], {
    env: { NODE_ENV: 'production', RESPONSE_BYTES: String(responseBytes) },
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    await ended;
  }
  return { ports: [Number(port.toString())], pids: [child.pid ?? 0], stop };
}

/**
 * Row `processes`: two processes on one database. The sender needs a part of the two cores, so requests per second cannot
 * double here. The processor time of a request shows what two processes would achieve on separate cores.
 */
export async function processRows(setting: Setting): Promise<void> {
  const { service, place, policy, pace, report } = setting;
  const second = await start(place);
  try {
    const load = loadOf(setting, await checks(service, policy, 'named'), CONNECTIONS);
    const two = { ...load, ports: [service.port, second.port], pids: [service.pid, second.pid] };
    const [alone, both] = await measure([load, two], pace);
    if (!alone || !both) return;
    const what = 'two processes, is-authorized';
    report({
      what: `${what}: rate, the load on the same cores`,
      value: ratioOf(both, alone),
      unit: '× one',
      ...both,
    });
    const value = (2 * alone.cpuMicros) / both.cpuMicros;
    report({ what: `${what}: by processor time for a request`, value, unit: '× one', is: '≥', goal: 1.7 });
  } finally {
    await second.stop();
  }
}
