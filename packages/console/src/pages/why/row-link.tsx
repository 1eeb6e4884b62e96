import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import type { Scope } from '../../scopes/scope.ts';

/** A link to a row on its page; only its name if the scope has no such page. */
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
  /** The role that the form of the row should propose. */
  readonly give?: string | undefined;
  readonly children: ReactNode;
}) {
  // Accounts have rows of their own, but no pages for them.
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
