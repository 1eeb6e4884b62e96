import type { Api } from '@doorward/node/client';
import { targetOf } from '../../entities/declarations/entity.ts';
import { ownerOf, type Scope } from '../../scopes/scope.ts';

interface NamedUser {
  readonly id: string;
  readonly name: string;
}

/**
 * Reads the names of up to 100 users by id. Members of an organization can act in its projects too, but only the
 * organization lists them. Users whom the caller may not read are left out.
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

/** Lists users of a scope to choose from. For a project, this includes the members of its organization. */
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
