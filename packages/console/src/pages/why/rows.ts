import type { Api } from '@doorward/node/client';
import { useRead } from '../../api/use-api.ts';
import { targetOf } from '../../entities/declarations/entity.ts';
import { ownerOf, type Scope } from '../../scopes/scope.ts';
import type { Explanation } from './question.ts';

/** A row that an explanation names, and the scope in which it can be opened. */
export interface NamedRow {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly condition?: Readonly<Record<string, unknown>> | null;
}

export interface UserRow extends NamedRow {
  readonly email: string | null;
  readonly emailVerified: boolean;
}

export interface ExplainedRows {
  readonly user: UserRow | null;
  readonly roles: ReadonlyMap<string, NamedRow>;
  readonly groups: ReadonlyMap<string, NamedRow>;
  readonly permissions: ReadonlyMap<string, NamedRow>;
}

type PageRead = (
  api: Api,
  scope: Scope,
  ids: readonly string[],
  signal: AbortSignal,
) => Promise<{ readonly items: readonly Omit<NamedRow, 'scope'>[] }>;

const input = (scope: Scope, ids: readonly string[]) => ({ ...targetOf(scope), ids: [...ids], limit: 100 });
const readRoles: PageRead = (api, scope, ids, signal) => api.roles(input(scope, ids), { signal });
const readGroups: PageRead = (api, scope, ids, signal) => api.groups(input(scope, ids), { signal });
const readPermissions: PageRead = (api, scope, ids, signal) => api.permissions(input(scope, ids), { signal });

/**
 * Reads the rows that an explanation names by id. In a project this includes rows of its owner. Rows that the caller
 * may not read are missing from the result.
 */
export function useExplainedRows(scope: Scope, explanation: Explanation | undefined) {
  const { candidates = [], nearest = [], roles = [], subject } = explanation ?? {};
  const ids = (
    of: (part: { roleId?: string; groupId?: string; permissionId?: string }) => string | undefined,
  ) => [...new Set([...candidates, ...nearest].flatMap((part) => of(part) ?? []))];
  const roleIds = [...new Set([...ids(({ roleId }) => roleId), ...roles.map(({ id }) => id)])];
  const groupIds = ids(({ groupId }) => groupId);
  const permissionIds = ids(({ permissionId }) => permissionId);
  return useRead(
    ['why', scope, 'rows', subject?.id, roleIds, groupIds, permissionIds],
    async (api, signal): Promise<ExplainedRows> => {
      const [user, rolesById, groups, permissions] = await Promise.all([
        subject?.type === 'user' ? userOf(api, scope, subject.id, signal) : null,
        rowsOf(readRoles, api, scope, roleIds, signal),
        rowsOf(readGroups, api, scope, groupIds, signal),
        rowsOf(readPermissions, api, scope, permissionIds, signal),
      ]);
      return { user, roles: rolesById, groups, permissions };
    },
    { isEnabled: explanation !== undefined },
  );
}

async function rowsOf(
  read: PageRead,
  api: Api,
  scope: Scope,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, NamedRow>> {
  if (ids.length === 0) return new Map();
  const { items } = await read(api, scope, ids.slice(0, 100), signal).catch(() => ({ items: [] }));
  const rows = new Map(items.map((row) => [row.id, { ...row, scope }]));
  const owner = ownerOf(scope);
  const missing = ids.filter((id) => !rows.has(id));
  if (!owner || missing.length === 0) return rows;
  return new Map([...rows, ...(await rowsOf(read, api, owner, missing, signal))]);
}

async function userOf(api: Api, scope: Scope, id: string, signal: AbortSignal): Promise<UserRow | null> {
  // The list leaves out unknown ids. A member of the organization can act here without being a user of the project,
  // so the organization is asked next.
  const page = await api.users({ ...targetOf(scope), ids: [id] }, { signal }).catch(() => null);
  const row = page?.items[0];
  if (row) return { ...row, scope };
  const owner = ownerOf(scope);
  return owner?.tenant === 'organization' ? userOf(api, owner, id, signal) : null;
}
