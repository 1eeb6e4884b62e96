import pg from 'pg';
import { must, type Service, type SignedUp } from '../scripts/service.ts';

/**
 * What the loads are put to: a project that answers questions, made as a customer makes it, and rows by the million,
 * written by SQL into the same tables with their constraints on. What SQL has written no process has heard of, so it
 * is told as a mutation would tell it: the tenant's policy gets another version, and its topic is announced.
 */
export interface Project {
  readonly id: string;
  readonly scope: { readonly tenant: string; readonly id: string };
  readonly permissionId: string;
  readonly groupId: string;
  readonly roleId: string;
  readonly tagId: string;
}

export interface Key {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: Project['scope'];
}

const isOwner = { Equals: { 'resource.ownerId': '{{user.id}}' } };

/** Makes something by the API, as somebody. */
export type Post = <D = { id: string }>(path: string, body: Record<string, unknown>) => Promise<D>;

export const postAs =
  ({ base }: Service, { token }: SignedUp): Post =>
  (path, body) =>
    must(`${base}/api/${path}`, { token, body });

/** `invoice:list` always and `invoice:read` under a condition, by one group of one role with a tag, which Ada wears. */
export async function newProject(
  post: Post,
  { userId, organizationId }: Pick<SignedUp, 'userId' | 'organizationId'>,
  name: string,
): Promise<Project> {
  const { id } = await post('projects', { scope: { tenant: 'organization', id: organizationId }, name });
  const scope = { tenant: 'organizationProject', id: `${organizationId}:${id}` };
  const actions = ['list', 'read', 'pay'];
  const resource = await post('resources', { scope, name: 'Invoice', slug: 'invoice', actions });
  const about = { scope, resourceId: resource.id };
  const list = await post('permissions', { ...about, action: 'list' });
  const read = await post('permissions', { ...about, action: 'read', condition: isOwner });
  // In no group: nobody may pay.
  await post('permissions', { ...about, action: 'pay' });
  const group = await post('groups', { scope, name: 'Invoices', permissionIds: [list.id, read.id] });
  const tag = await post('tags', { scope, name: 'billing' });
  const role = await post('roles', { scope, name: 'Customer', groupIds: [group.id], tagIds: [tag.id] });
  await post('users', { scope, userId, roleIds: [role.id] });
  return { id, scope, permissionId: list.id, groupId: group.id, roleId: role.id, tagId: tag.id };
}

export async function newKey(post: Post, { scope, roleId }: Pick<Project, 'scope' | 'roleId'>): Promise<Key> {
  const { clientId, clientSecret } = await post<Key>('api-keys', { scope, roleId });
  return { clientId, clientSecret, scope };
}

/** SQL beside the service, as the owner of the tables. */
export interface Tables {
  readonly query: (text: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;
  /** Roles of a project, each with its group and its tag, so many that it has `upTo` of its own. */
  readonly roles: (project: Project, upTo: number) => Promise<void>;
  /** Resources of a project, likewise. */
  readonly resources: (project: Project, upTo: number) => Promise<void>;
  /** Projects of an organization, likewise; answers the ids of the ones made here. */
  readonly projects: (organizationId: string, upTo: number) => Promise<readonly string[]>;
  /** A user of the organization who takes part in the project and wears so many roles of it. */
  readonly wearer: (organizationId: string, project: Project, roles: number) => Promise<string>;
  /** Tells all processes that a tenant changed, and the planner what is in the tables now. */
  readonly settle: (nodeId: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function openTables(url: string): Promise<Tables> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const query = async (text: string, values: readonly unknown[] = []) =>
    (await client.query<Record<string, unknown>>(text, [...values])).rows;
  const missing = async (table: string, column: string, id: string, upTo: number): Promise<number> => {
    const [row] = await query(`select count(*)::int as n from ${table} where ${column} = $1`, [id]);
    return Math.max(0, upTo - Number(row?.['n']));
  };
  return {
    query,
    close: () => client.end(),
    async settle(nodeId) {
      await query('update nodes set policy_version = policy_version + 1 where id = $1', [nodeId]);
      await query(`select pg_notify('doorward_changes', $1)`, [announcement(nodeId)]);
      await query('analyze');
    },
    async roles({ id, groupId, tagId }, upTo) {
      // One after the other in time, as they would have come; the columns of a million rows are near what callers write.
      await query(
        `with made as (
          insert into roles (id, tenant_id, name, description, level, created_at, updated_at)
          select gen_random_uuid(), $1, 'Role ' || n, 'What whoever wears this may do, number ' || n, 'project', at, at
          from (select n, now() - interval '1 year' + n * interval '1 millisecond' as at
            from generate_series(1, $4::int) n) s
          returning id),
        grouped as (insert into role_groups (tenant_id, role_id, group_id, to_tenant_id) select $1, id, $2, $1 from made)
        insert into role_tags (tenant_id, role_id, tag_id, to_tenant_id) select $1, id, $3, $1 from made`,
        [id, groupId, tagId, await missing('roles', 'tenant_id', id, upTo)],
      );
    },
    async resources({ id }, upTo) {
      await query(
        `insert into resources (id, tenant_id, name, slug, actions, created_at, updated_at)
        select gen_random_uuid(), $1, 'Resource ' || n, 'r-' || gen_random_uuid(), '{read}', at, at
        from (select n, now() - interval '1 year' + n * interval '1 millisecond' as at
          from generate_series(1, $2::int) n) s`,
        [id, await missing('resources', 'tenant_id', id, upTo)],
      );
    },
    async projects(organizationId, upTo) {
      const made = await query(
        `with made as (insert into nodes (id, kind, parent_id)
          select gen_random_uuid(), 'project', $1 from generate_series(1, $2::int) returning id)
        insert into projects (id, owner_id, owner_kind, name, slug)
        select id, $1, 'organization', 'P', 'p-' || id from made returning id`,
        [organizationId, await missing('projects', 'owner_id', organizationId, upTo)],
      );
      return made.map(({ id }) => id as string);
    },
    async wearer(organizationId, { id }, roles) {
      const [user] = await query(
        `insert into users (id, name, is_managed, managed_by)
        values (gen_random_uuid(), 'Wearer', true, $1) returning id`,
        [organizationId],
      );
      const userId = user?.['id'] as string;
      await query('insert into project_users (tenant_id, user_id) values ($1, $2)', [id, userId]);
      await query(
        `insert into project_user_roles (tenant_id, user_id, role_id, role_tenant_id)
        select $1, $2, id, $1 from roles where tenant_id = $1 order by created_at desc limit $3`,
        [id, userId, roles],
      );
      return userId;
    },
  };
}

/** As src/db/changes.ts reads it: of no process and no transaction that anybody asks for. */
const announcement = (nodeId: string): string => `bench 0 0 node:${nodeId}`;
