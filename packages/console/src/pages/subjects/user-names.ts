import type { Api } from '@doorward/node/client';
import { targetOf } from '../../entities/declarations/entity.ts';
import { ownerOf, type Scope } from '../../scopes/scope.ts';

interface NamedUser {
  readonly id: string;
  readonly name: string;
}

/**
 * The names of users by their ids, a hundred at most. Members of an organization act in its projects too, and only the
 * organization lists them. Who may not be read is left out.
 */
export async function readNames(
  api: Api,
  scope: Scope,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const input = { ...targetOf(scope), ids: [...ids], limit: 100 };
  const { items } = await api.users(input, { signal }).catch(() => ({ items: [] }));
  const names = new Map(items.map(({ id, name }) => [id, name]));
  const owner = ownerOf(scope);
  const missing = ids.filter((id) => !names.has(id));
  if (owner?.tenant !== 'organization' || missing.length === 0) return names;
  return new Map([...names, ...(await readNames(api, owner, missing, signal))]);
}

/** Users of the scope to choose from; in a project, the members of its organization too. */
export async function readUsers(api: Api, scope: Scope, search: string | undefined): Promise<NamedUser[]> {
  const read = (of: Scope) =>
    api.users({ ...targetOf(of), limit: 50, ...(search === undefined ? {} : { search }) });
  const { items } = await read(scope);
  const owner = ownerOf(scope);
  const members =
    owner?.tenant === 'organization' ? await read(owner).catch(() => ({ items: [] })) : { items: [] };
  const users = new Map([...items, ...members.items].map(({ id, name }) => [id, { id, name }]));
  return [...users.values()];
}
