import { useQueries } from '@tanstack/react-query';
import { client } from '../session/session.ts';
import { useRead } from '../api/use-api.ts';
import { installation, isSameScope, ownerOf, type Scope } from './scope.ts';

/** A scope with its name and the name of its owner. */
export interface NamedScope {
  readonly scope: Scope;
  readonly name: string;
  readonly owner: string | null;
}

export const useMe = () => useRead(['me'], (api, signal) => api.me({}, { signal }));

/** Reads up to 100 projects that others share with an organization. */
async function grantedTo(
  scope: { readonly tenant: 'organization'; readonly id: string },
  signal: AbortSignal,
) {
  const { items } = await client()
    .api.organizationGrants({ scope, status: 'active', limit: 100 }, { signal })
    .catch(() => ({ items: [] }));
  return items.map((granted) => ({ scope: granted.scope, name: granted.project.name }));
}

interface Names {
  readonly personalAccount: string;
  readonly installation: string;
}

/**
 * Reads the user's accounts and organizations, up to 100 projects of each and, for operators, the installation. A user
 * may belong to hundreds of organizations, so pages that need only a scope's name pass that scope as `near`. This reads
 * only the projects of the scope's owner. With null, it reads no projects.
 */
export function useScopes(
  { personalAccount, installation: installationName }: Names,
  near?: Scope | null,
): {
  readonly scopes: readonly NamedScope[];
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly refetch: () => unknown;
} {
  const { data: me, isPending, error, refetch } = useMe();
  const owners = [
    ...(me?.accounts ?? []).map(({ id }) => ({
      scope: { tenant: 'account' as const, id },
      name: personalAccount,
      owner: null,
    })),
    ...(me?.memberships ?? []).map(({ organizationId, organizationName }) => ({
      scope: { tenant: 'organization' as const, id: organizationId },
      name: organizationName,
      owner: null,
    })),
  ];
  const nearOwner = near ? (ownerOf(near) ?? near) : null;
  const isNeeded = (scope: Scope): boolean =>
    near === undefined || (nearOwner !== null && isSameScope(scope, nearOwner));
  const projects = useQueries({
    queries: owners.map(({ scope, name }) => ({
      queryKey: ['Project', scope, 'names'],
      enabled: isNeeded(scope),
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        const page = await client()
          .api.projects({ scope, limit: 100 }, { signal })
          .catch(() => ({ items: [] }));
        const granted = scope.tenant === 'organization' ? await grantedTo(scope, signal) : [];
        return [...page.items, ...granted].map((project): NamedScope => ({
          scope: project.scope as Scope,
          name: project.name,
          owner: name,
        }));
      },
    })),
  });
  return {
    scopes: [
      ...owners.flatMap((owner, index) => [owner, ...(projects[index]?.data ?? [])]),
      ...(me?.isOperator ? [{ scope: installation, name: installationName, owner: null }] : []),
    ],
    error: me ? null : error,
    refetch,
    isLoading: isPending || projects.some((query) => query.isLoading),
  };
}
