import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import type { Scope } from '../../scopes/scope.ts';

/** A link to a row of a page; only its name where the scope has no such page. */
export function RowLink({
  scope,
  page,
  id,
  give,
  children,
}: {
  readonly scope: Scope | undefined;
  readonly page: 'roles' | 'groups' | 'permissions' | 'users' | 'members';
  readonly id: string;
  /** A role that its form is to begin with. */
  readonly give?: string | undefined;
  readonly children: ReactNode;
}) {
  // An account has rows of its own, but no pages for them.
  if (!scope || scope.tenant === 'account') return <bdi>{children}</bdi>;
  return (
    <Link
      to="/$tenant/$id/$page/$row"
      params={{ tenant: scope.tenant, id: scope.id, page, row: id }}
      {...(give === undefined ? {} : { search: { give }, state: { isProposal: true }, className: 'button' })}
    >
      <bdi>{children}</bdi>
    </Link>
  );
}
