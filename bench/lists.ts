import { must, type Service } from '../scripts/service.ts';
import type { Project } from './fill.ts';
import type { Load } from './measure.ts';

/** The list of 50 roles with two relations: the second page, so that a cursor is read too. */
const RELATIONS = 'groups,tags';

interface Place {
  readonly service: Service;
  readonly token: string;
  readonly project: Project;
  readonly database?: string | undefined;
}

/** Of a scope, over REST. */
export async function restList({ service, token, project, database }: Place): Promise<Load> {
  const { tenant, id } = project.scope;
  const url = `${service.base}/api/roles?tenant=${tenant}&scopeId=${id}&limit=50&relations=${RELATIONS}`;
  const { nextCursor } = await must<{ nextCursor: string | null }>(url, { token });
  if (nextCursor === null) throw new Error('there is no second page');
  return {
    url: `${url}&cursor=${nextCursor}`,
    method: 'GET',
    headers: { authorization: `Bearer ${token}` },
    pids: [service.pid],
    database,
  };
}

const BASE = 'id name description metadata level isSystem createdAt updatedAt deletedAt';
const GROUP = 'id name description metadata isSystem createdAt updatedAt deletedAt';
const TAG = 'id name color metadata createdAt updatedAt deletedAt';

/** The same rows with the same members over GraphQL, or the few that a page would show. */
export async function graphqlList(
  { service, token, project, database }: Place,
  members: 'all' | 'few',
): Promise<Load> {
  const url = `${service.base}/graphql`;
  const [base, group, tag] = members === 'all' ? [BASE, GROUP, TAG] : ['id name', 'id name', 'id name'];
  const query = `query List($input: RolesInput!) { roles(input: $input) {
    items { ${base} groups { ${group} } tags { ${tag} } } totalCount hasNextPage nextCursor } }`;
  const bodyWith = (input: object) =>
    JSON.stringify({ query, variables: { input: { scope: project.scope, limit: 50, ...input } } });
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: bodyWith({}),
  });
  const { data, errors } = (await answer.json()) as {
    data: { roles: { nextCursor: string } } | null;
    errors?: unknown;
  };
  if (!data) throw new Error(`the list answered ${JSON.stringify(errors)}`);
  return {
    url,
    headers: { authorization: `Bearer ${token}` },
    bodies: [bodyWith({ cursor: data.roles.nextCursor })],
    pids: [service.pid],
    database,
  };
}
