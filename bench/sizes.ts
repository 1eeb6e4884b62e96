import { newProject } from './fill.ts';
import { restList } from './lists.ts';
import { measure, say, type Load, type Measured } from './measure.ts';
import { question } from './questions.ts';
import { inSetting, newDatabase, type Setting } from './setting.ts';

/** Rows `size-…`: the same load at several sizes of what it is put to, in turns where one service can have them all. */
export async function sizeRows(setting: Setting, most: number): Promise<void> {
  if (setting.wanted('size-roles')) await rolesInTenant(setting);
  if (setting.wanted('size-worn')) await rolesOfUser(setting);
  if (setting.wanted('size-tenants')) await tenants(setting);
  if (setting.wanted('size-rows')) await rowsInTable(setting, most);
}

/** By time of the processor: what a load generator on the same cores takes away it takes from no request's cost. */
const flat = (what: string, [few, many]: readonly (Measured | undefined)[]) => ({
  what,
  against: 'processor time of the service for a request at the smaller size',
  value: (many?.cpuMicros ?? NaN) / (few?.cpuMicros ?? NaN),
  unit: '' as const,
  bound: 1.05,
  is: 'at most' as const,
});

const asking = ({ service, ada }: Setting, bodies: readonly object[]): Load => ({
  url: `${service.base}/api/auth/is-authorized`,
  headers: { authorization: `Bearer ${ada.token}` },
  bodies: bodies.map((body) => JSON.stringify(body)),
  pids: [service.pid],
});

async function inTurns(
  { pace, foundSeries }: Setting,
  series: string,
  size: string,
  loads: readonly { readonly size: number; readonly load: Load }[],
): Promise<Measured[]> {
  say(series);
  const figures = await measure(
    loads.map(({ load }) => load),
    pace,
  );
  foundSeries({
    series,
    size,
    points: loads.flatMap(({ size }, place) => {
      const measured = figures[place];
      return measured ? [{ size, ...measured }] : [];
    }),
  });
  return figures;
}

async function rolesInTenant(setting: Setting): Promise<void> {
  const { post, ada, database, found } = setting;
  const loads = [];
  for (const size of [10, 10_000]) {
    const project = await newProject(post, ada, `With ${size} roles`);
    await database?.tables.roles(project, size);
    await database?.tables.settle(project.id);
    loads.push({ size, load: asking(setting, [question(project, 'conditional', ada.userId)]) });
  }
  const figures = await inTurns(setting, 'is-authorized by roles in the tenant', 'roles', loads);
  found({
    row: 'size-roles',
    what: 'roles in the tenant',
    goal: flat('is-authorized at 10,000 roles in the tenant', figures),
  });
}

async function rolesOfUser(setting: Setting): Promise<void> {
  const { post, ada, database } = setting;
  const project = await newProject(post, ada, 'Worn');
  await database?.tables.roles(project, 1000);
  const loads = [];
  for (const size of [1, 10, 100, 1000]) {
    const userId = await database?.tables.wearer(ada.organizationId, project, size);
    const about = { ...question(project, 'allowed', ada.userId), subject: { userId } };
    loads.push({ size, load: asking(setting, [about]) });
  }
  await database?.tables.settle(project.id);
  await inTurns(setting, 'is-authorized by roles of one user', 'roles', loads);
}

async function tenants(setting: Setting): Promise<void> {
  const { ada, database } = setting;
  const ids = (await database?.tables.projects(ada.organizationId, 10_000)) ?? [];
  await database?.tables.settle(ada.organizationId);
  const questions = ids.map((id) => ({
    permission: { resource: 'Role', action: 'Query' },
    scope: { tenant: 'organizationProject', id: `${ada.organizationId}:${id}` },
  }));
  const loads = [10, 1000, ids.length].map((size) => ({
    size,
    load: asking(setting, questions.slice(0, size)),
  }));
  await inTurns(setting, 'is-authorized by tenants that are asked about', 'tenants', loads);
}

/** One tenant grows, among a thousand others with a role each. */
async function rowsInTable(setting: Setting, most: number): Promise<void> {
  const { service, post, ada, database, pace, found, foundSeries } = setting;
  if (!database) return;
  const { tables, url } = database;
  const project = await newProject(post, ada, 'Growing');
  const points: (Measured & { size: number })[] = [];
  let load: Load | undefined;
  for (const size of [FEW, 10_000, 100_000, 1_000_000].filter((size) => size <= most)) {
    say(`a table of ${size} roles`);
    await tables.roles(project, size);
    await tables.settle(project.id);
    load = { ...(await restList({ service, token: ada.token, project, database: url })), connections: 16 };
    const [measured] = await measure([load], pace);
    if (measured) points.push({ size, ...measured });
  }
  foundSeries({ series: 'list of 50 roles with two relations by rows in the table', size: 'rows', points });
  const { size } = points.at(-1) ?? {};
  if (!load || !size) return;
  const [few, many] = await besideFew(setting, load);
  found({
    row: 'size-rows',
    what: 'rows in the table',
    goal: {
      what: `list of 50 with two relations at ${size.toLocaleString('en')} rows, p50`,
      against: `p50 at ${FEW.toLocaleString('en')} rows, by turns`,
      value: (many?.p50 ?? NaN) / (few?.p50 ?? NaN),
      unit: '',
      bound: 1.25,
      is: 'at most',
    },
  });
}

const FEW = 1000;

/** Minutes lie between the sizes of one table, in which the machine may have become another: so two tables, by turns. */
async function besideFew(setting: Setting, load: Load): Promise<readonly Measured[]> {
  let figures: readonly Measured[] = [];
  await inSetting(await newDatabase(), setting, [], async ({ service, post, ada, database }) => {
    const project = await newProject(post, ada, 'Small');
    await database?.tables.roles(project, FEW);
    await database?.tables.settle(project.id);
    const small = await restList({ service, token: ada.token, project, database: database?.url });
    figures = await measure([{ ...small, connections: load.connections ?? 0 }, load], setting.pace);
  });
  return figures;
}
