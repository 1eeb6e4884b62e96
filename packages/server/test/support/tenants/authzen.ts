import type { ScopeRef } from '../../../src/kernel/scope.ts';
import type { TestApp } from '../app/app.ts';

/** A policy in a project, and requests to it as a client of AuthZEN sends them: over HTTP, with a bearer token. */
type Condition = Record<string, unknown> | null;

/** Conditions by role, resource and action. */
type RolePolicies = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Condition>>>>>>;

/** Creates resources, permissions and roles; returns the ids of the roles by name. */
export async function createPolicy(
  app: TestApp,
  token: string,
  scope: ScopeRef,
  roles: RolePolicies,
): Promise<Record<string, string>> {
  const as = { token };
  const actions = new Map<string, Set<string>>();
  for (const policy of Object.values(roles)) {
    for (const [slug, conditions] of Object.entries(policy))
      actions.set(slug, new Set([...(actions.get(slug) ?? []), ...Object.keys(conditions)]));
  }
  const resourceIds = new Map<string, string>();
  for (const [slug, names] of actions) {
    const resource = { scope, name: slug, slug, actions: [...names] };
    resourceIds.set(slug, (await app.must('createResource', resource, as)).id);
  }
  const ids: Record<string, string> = {};
  for (const [name, policy] of Object.entries(roles)) {
    const permissionIds: string[] = [];
    for (const [slug, conditions] of Object.entries(policy)) {
      const resourceId = resourceIds.get(slug) ?? '';
      for (const [action, condition] of Object.entries(conditions)) {
        const permission = { scope, name: `${name} ${action}`, resourceId, action, condition };
        permissionIds.push((await app.must('createPermission', permission, as)).id);
      }
    }
    const group = await app.must('createGroup', { scope, name, permissionIds }, as);
    ids[name] = (await app.must('createRole', { scope, name, groupIds: [group.id] }, as)).id;
  }
  return ids;
}

/** The path of a project, below which its AuthZEN endpoints are. */
export const pathOf = ({ tenant, id }: ScopeRef): string => {
  const [ownerId, projectId] = id.split(':');
  return `/${tenant === 'organizationProject' ? 'org' : 'acc'}/${ownerId}/prj/${projectId}`;
};

interface AuthzenAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Posts to an endpoint below a path; a text is sent as it is. */
export async function post(
  app: TestApp,
  token: string | undefined,
  url: string,
  payload: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<AuthzenAnswer> {
  const answer = await app.server.inject({
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  });
  return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
}
