import { measure, ratioOf, request } from './load.ts';
import { callOrThrow, sql, withService } from './service.ts';
import { loadOf, type Setting } from './setting.ts';
import {
  graphqlList,
  listPath,
  newProject,
  newRoleList,
  newTenant,
  type RoleList,
  type Tenant,
} from './tenant.ts';

const CONNECTIONS = 16;
const FEW_ROWS = 1000;
/** Number of pages that a load requests, spread over the table. */
const PAGES = 20;

type Where = Pick<Setting, 'service' | 'place' | 'tenant'>;

/** Rows `list` and `rows`: pages of 50 roles with two groups and two tags each, by cursors. */
export async function listRows(setting: Setting): Promise<void> {
  const { place, pace, rows, wants, report } = setting;
  const few = await filledList(setting, FEW_ROWS);
  const small = loadOf(setting, await restPages(setting, few), CONNECTIONS);
  if (wants('list')) {
    const what = 'list of 50 with two relations';
    const [before] = await measure([small], pace);
    await sql(place.databaseUrl ?? '', 'analyze');
    const graphql = loadOf(setting, await graphqlPages(setting, few), CONNECTIONS);
    const [rest, same] = await measure([small, graphql], pace);
    if (!before || !rest || !same) return;
    report({
      what: `${what}, before ANALYZE ran`,
      value: before.perSecond,
      unit: '/s',
      is: '≥',
      goal: 600,
      ...before,
    });
    report({ what, value: rest.perSecond, unit: '/s', is: '≥', goal: 600, ...rest });
    report({
      what: `${what}, GraphQL`,
      value: ratioOf(same, rest),
      unit: 'of REST',
      is: '≥',
      goal: 1,
      ...same,
    });
  }
  if (!wants('rows')) return;
  await sql(place.databaseUrl ?? '', 'analyze');
  await withService(place.dir, 'PostgreSQL', async (other, itsPlace) => {
    const itsTenant = await newTenant(other, 'grace');
    const where = { service: other, place: itsPlace, tenant: itsTenant };
    const list = await filledList(where, rows);
    await sql(itsPlace.databaseUrl ?? '', 'vacuum analyze');
    const large = loadOf(where, await restPages(where, list), CONNECTIONS);
    const [measured, many] = await measure([small, large], pace);
    if (!measured || !many) return;
    const what = `list of 50 at ${rows.toLocaleString('en')} rows, p50`;
    report({ what, value: many.p50 / measured.p50, unit: '× at 1,000', is: '≤', goal: 1.25, ...many });
  });
}

async function filledList({ service, place, tenant }: Where, rows: number): Promise<RoleList> {
  const { scope } = await newProject(tenant, `With ${rows} roles`);
  const list = await newRoleList(tenant, scope);
  await fillRoles(place.databaseUrl ?? '', list, rows);
  // A change over the API invalidates the caches of the tenant.
  await tenant.post('tags', { scope, name: 'Filled' });
  const { totalCount } = await page({ service, tenant }, list, 1);
  if (totalCount < rows) throw new Error(`the list has ${totalCount} rows and not ${rows}`);
  return list;
}

/** Inserts roles with SQL, because a million calls would take an hour. It does not run ANALYZE. */
export async function fillRoles(
  url: string,
  { scope, groupIds, tagIds }: RoleList,
  rows: number,
): Promise<void> {
  // `replica` skips the checks of foreign keys, which take two thirds of the time.
  const search = '?options=-c session_replication_role=replica';
  await sql(
    Object.assign(new URL(url), { search }).href,
    `with made as (
      insert into roles (id, tenant_id, name, description, level, created_at, updated_at)
      select gen_random_uuid(), $1, 'Role ' || n, 'What its assignees may do, number ' || n, 'project', at, at
      from (select n, now() - interval '1 year' + n * interval '1 millisecond' as at
        from generate_series(1, $4::int) n) s
      returning id),
    grouped as (insert into role_groups (tenant_id, role_id, group_id, to_tenant_id)
      select $1, id, other, $1 from made, unnest($2::uuid[]) other)
    insert into role_tags (tenant_id, role_id, tag_id, to_tenant_id)
    select $1, id, other, $1 from made, unnest($3::uuid[]) other`,
    [scope.id.split(':')[1], groupIds, tagIds, rows],
  );
}

interface Page {
  readonly totalCount: number;
  readonly nextCursor: string;
}

const page = (
  { service, tenant }: { service: Setting['service']; tenant: Tenant },
  { scope }: RoleList,
  number: number,
) => callOrThrow<Page>(`${service.base}${listPath(scope)}&page=${number}`, { token: tenant.token });

async function readCursors(where: Where, list: RoleList): Promise<string[]> {
  const { totalCount } = await page(where, list, 1);
  const cursors: string[] = [];
  for (let count = 0; count < PAGES; count++) {
    const { nextCursor } = await page(where, list, 1 + Math.floor((count * (totalCount / 50 - 1)) / PAGES));
    cursors.push(nextCursor);
  }
  return cursors;
}

const restPages = async (where: Where, list: RoleList): Promise<string[]> =>
  (await readCursors(where, list)).map((cursor) =>
    request(`${listPath(list.scope)}&cursor=${encodeURIComponent(cursor)}`, { token: where.tenant.token }),
  );

const graphqlPages = async (where: Where, list: RoleList): Promise<string[]> =>
  (await readCursors(where, list)).map((cursor) =>
    request('/graphql', { token: where.tenant.token, body: graphqlList(list.scope, cursor) }),
  );
