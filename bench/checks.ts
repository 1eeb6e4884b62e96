import { once } from 'node:events';
import { measure, ratioOf } from './load.ts';
import { fillRoles } from './lists.ts';
import { buildScript, must, spawnChild, start } from './service.ts';
import { loadOf, type Setting } from './setting.ts';
import { checks, newPolicy, newRoleList } from './tenant.ts';

const CONNECTIONS = 64;
const MANY_ROLES = 10_000;

/** Row `is-authorized`: against a bare echo that takes turns with it, and again in a tenant with 10,000 roles. */
export async function checkRows(setting: Setting): Promise<void> {
  const { backend, service, tenant, policy, pace, found, place } = setting;
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
    found({ what: `bare Fastify echo, beside ${backend}`, value: bare.perSecond, unit: '/s', ...bare });
    for (const [index, one] of measured.entries()) {
      const what = `is-authorized, ${backend}: ${cases[index]?.what}`;
      found({ what, value: ratioOf(one, bare), unit: 'of the echo', is: '≥', goal: 0.5, ...one });
    }
  } finally {
    await echo.stop();
  }
}

async function answerBytes({ service, policy }: Setting): Promise<number> {
  const body = { permission: { resource: 'invoice', action: 'action-1' }, scope: policy.scope };
  const data = await must(`${service.base}/api/auth/is-authorized`, {
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
 * Row `processes`: two processes on one database. The sender has to have a part of the two cores, so requests a second
 * cannot double here; what a request costs tells what two processes would do on cores of their own.
 */
export async function processRows(setting: Setting): Promise<void> {
  const { service, place, policy, pace, found } = setting;
  const second = await start(place);
  try {
    const one = loadOf(setting, await checks(service, policy, 'named'), CONNECTIONS);
    const two = { ...one, ports: [service.port, second.port], pids: [service.pid, second.pid] };
    const [alone, both] = await measure([one, two], pace);
    if (!alone || !both) return;
    const what = 'two processes, is-authorized';
    found({
      what: `${what}: rate, the load on the same cores`,
      value: ratioOf(both, alone),
      unit: '× one',
      ...both,
    });
    const value = (2 * alone.cpuMicros) / both.cpuMicros;
    found({ what: `${what}: by processor time for a request`, value, unit: '× one', is: '≥', goal: 1.7 });
  } finally {
    await second.stop();
  }
}
