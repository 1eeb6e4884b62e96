import { useContext, useEffect, useState, type ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { DoorwardError } from '@doorward/node/client';
import { common } from '../i18n/common.ts';
import { useTexts } from '../i18n/language.ts';
import { ScopeContext, useRights } from '../scopes/use-scope.ts';
import { ErrorBox } from './error-box.tsx';

const SKELETON_AFTER_MS = 150;

/** Grey lines while something loads; not for what comes at once. */
export function Skeleton({ rows = 6 }: { readonly rows?: number }) {
  const t = useTexts(common);
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SKELETON_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isLate) return null;
  return (
    <div className="skeleton" role="status" aria-label={t.loading}>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  );
}

/** A list without rows: what would be in it, and how the first one comes. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A page that the user may not read; it names the permission that is missing, and leads to why. */
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

/** The failure of a read; a refusal names the permission instead. */
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
