import { useRead } from '../../../api/use-api.ts';
import { useTexts } from '../../../i18n/language.ts';
import { isSameScope, ownerOf, type Scope } from '../../../scopes/scope.ts';
import type { Rights } from '../../../scopes/use-scope.ts';
import { Exact, Facts } from '../../../ui/facts.tsx';
import { Failure, Forbidden } from '../../../scopes/failure.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { grantedTexts } from '../../grants/granted-texts.ts';
import { LatestEntries } from './latest-entries.tsx';
import { Numbers } from './numbers.tsx';
import { projectTexts } from './project-texts.ts';

/** The overview of a project that another owner shares with the organization by a grant. */
export function GrantedOverview({ scope, can }: { readonly scope: Scope; readonly can: Rights['can'] }) {
  const t = useTexts(projectTexts);
  const g = useTexts(grantedTexts);
  const id = ownerOf(scope)?.id ?? '';
  const { data, error, refetch } = useRead(['ProjectGrant', scope, 'own'], async (api, signal) => {
    const organization = { tenant: 'organization' as const, id };
    for await (const granted of api.organizationGrants.each(
      { scope: organization, status: 'active' },
      { signal },
    ))
      if (isSameScope(granted.scope as Scope, scope)) return granted;
    return null;
  });
  if (error && data === undefined) return <Failure error={error} onRetry={() => refetch()} />;
  if (data === undefined) return <Skeleton />;
  if (data === null) return <Forbidden permission="Project:Query" />;
  return (
    <>
      <header className="page-head">
        <div>
          <h1>
            <bdi>{data.project.name}</bdi>
          </h1>
          <p>
            <bdi>{data.project.description ?? t.noDescription}</bdi>
          </p>
        </div>
      </header>
      <Numbers scope={scope} can={can} />
      <Facts
        facts={[
          [
            t.scope,
            <>
              <Exact text={JSON.stringify(data.scope)} />
              <br />
              <small>{t.scopeHint}</small>
            </>,
          ],
          [g.owner, <bdi>{data.owner.name}</bdi>],
          [g.roles, data.roles.map(({ name }) => name).join(', ')],
        ]}
      />
      {can('AuditLog:Query') && <LatestEntries scope={scope} />}
    </>
  );
}
