import { newProject } from './fill.ts';
import { graphqlList, restList } from './lists.ts';
import { measure, ratioOf, type Load } from './measure.ts';
import { selectOne } from './references.ts';
import type { Setting } from './setting.ts';

/** Rows `list`, `create-role`, `jwks`, `health` and `select-1`. */
const ROLES = 1000;

export async function plainRows(setting: Setting): Promise<void> {
  const { service, post, ada, pace, wanted, found, database } = setting;
  if (!database) return;
  const common = { pids: [service.pid], database: database.url };
  const headers = { authorization: `Bearer ${ada.token}` };
  const project = await newProject(post, ada, 'Plain');

  if (wanted('list')) {
    await database.tables.roles(project, ROLES);
    await database.tables.settle(project.id);
    const place = { service, token: ada.token, project, database: database.url };
    const loads = [await restList(place), await graphqlList(place, 'all'), await graphqlList(place, 'few')];
    const [rest, all, few] = await measure(
      loads.map((load) => ({ ...load, connections: 16 })),
      pace,
    );
    if (!rest || !all || !few) return;
    found({ row: 'list', what: 'list of 50 roles with two relations, REST', ...rest });
    found({
      row: 'list',
      what: 'the same with all members, GraphQL',
      ...all,
      goal: {
        what: 'the list of 50 with two relations, GraphQL',
        against: 'requests a second of the same over REST',
        value: ratioOf(all, rest),
        unit: '',
        bound: 1,
        is: 'at least',
      },
    });
    found({ row: 'list', what: 'the same with id and name, GraphQL', ...few });
  }

  const single: Record<string, { readonly what: string; readonly load: Load }> = {
    'create-role': {
      what: 'create a role with a group and a tag',
      load: {
        ...common,
        url: `${service.base}/api/roles`,
        headers,
        bodies: [
          JSON.stringify({
            scope: project.scope,
            name: 'Made',
            groupIds: [project.groupId],
            tagIds: [project.tagId],
          }),
        ],
        connections: 16,
      },
    },
    jwks: {
      what: 'keys of the service (JWKS)',
      load: { ...common, method: 'GET', url: `${service.base}/.well-known/jwks.json` },
    },
    health: { what: 'health', load: { ...common, method: 'GET', url: `${service.base}/health` } },
  };
  for (const [row, { what, load }] of Object.entries(single)) {
    if (wanted(row)) found({ row, what, ...(await measure([load], pace))[0] });
  }
  if (wanted('select-1')) {
    const figures = await selectOne(database.url, pace.seconds);
    found({ row: 'select-1', what: 'SELECT 1 by pg, ten connections, no HTTP', ...figures });
  }
}
