import { useContext } from 'react';
import { Link } from '@tanstack/react-router';
import { DoorwardError } from '@doorward/node/client';
import { common } from '../i18n/common.ts';
import { useTexts } from '../i18n/language.ts';
import { ErrorBox } from '../session/error-box.tsx';
import { ScopeContext, useRights } from './use-scope.ts';

/** Shown instead of a page that the user may not read. Names the missing permission, and links to the explanation. */
export function Forbidden({ permission }: { readonly permission: string }) {
  const t = useTexts(common);
  const scope = useContext(ScopeContext);
  const { can } = useRights(scope);
  const mayAsk = scope !== null && scope.tenant !== 'account' && can('Authorization:Explain');
  const [resource, action] = permission.split(':');
  return (
    <div className="empty">
      <h1>{t.forbidden}</h1>
      <p>
        {t.missingPermission} <code>{permission}</code>
      </p>
      {scope && mayAsk && (
        <Link
          to="/$tenant/$id/$page"
          params={{ ...scope, page: 'why' }}
          search={{ resource: resource ?? '', action: action ?? '' }}
        >
          {t.why}
        </Link>
      )}
    </div>
  );
}

/** Shows the error of a read. If the user lacks `permission`, names that permission instead. */
export function Failure({
  error,
  permission,
  onRetry,
}: {
  readonly error: unknown;
  readonly permission?: string | undefined;
  readonly onRetry?: () => unknown;
}) {
  if (permission && error instanceof DoorwardError && error.code === 'FORBIDDEN')
    return <Forbidden permission={permission} />;
  return <ErrorBox error={error} {...(onRetry ? { onRetry } : {})} />;
}
