import { useRead } from '../../../api/use-api.ts';
import { targetOf } from '../../../entities/declarations/entity.ts';
import { common } from '../../../i18n/common.ts';
import { useTexts } from '../../../i18n/language.ts';
import { Link } from '@tanstack/react-router';
import { idOf, ownerOf, type Scope } from '../../../scopes/scope.ts';
import { useRights } from '../../../scopes/use-scope.ts';
import { Exact, Facts } from '../../../ui/facts.tsx';
import { Failure, Forbidden } from '../../../scopes/failure.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { Time } from '../../../ui/times/time.tsx';
import { slugTexts } from '../../tenants/slug-field.ts';
import { GrantedOverview } from './granted-overview.tsx';
import { LatestEntries } from './latest-entries.tsx';
import { Numbers } from './numbers.tsx';
import { ProjectActions } from './project-actions.tsx';
import { ProjectSteps } from './project-steps.tsx';
import { projectTexts } from './project-texts.ts';

/** The overview of a project: its scope for API requests, its first steps, and the latest audit entries. */
export function ProjectOverview({ scope }: { readonly scope: Scope }) {
  const t = useTexts(projectTexts);
  const s = useTexts(slugTexts);
  const c = useTexts(common);
  const rights = useRights(scope);
  const { can } = rights;
  const { data, error, refetch } = useRead(
    ['Project', scope, 'row'],
    (api, signal) => api.project({ ...targetOf(scope), id: idOf(scope) }, { signal }),
    { isEnabled: can('Project:Query') },
  );
  const owner = ownerOf(scope);
  if (!data && (rights.error ?? error))
    return <Failure error={rights.error ?? error} onRetry={rights.error ? rights.readAgain : refetch} />;
  if (!rights.isLoading && !can('Project:Query'))
    return owner?.tenant === 'organization' ? (
      <GrantedOverview scope={scope} can={can} />
    ) : (
      <Forbidden permission="Project:Query" />
    );
  if (!data) return <Skeleton />;
  return (
    <>
      <header className="page-head">
        <div>
          <h1>
            <bdi>{data.name}</bdi>
          </h1>
          <p>
            <bdi>{data.description ?? t.noDescription}</bdi>
          </p>
        </div>
        <ProjectActions project={data} scope={scope} />
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
          [s.slug, <Exact text={data.slug} />],
          [
            t.owner,
            owner && (
              <Link to="/$tenant/$id/$page" params={{ ...owner, page: 'overview' }}>
                {t.ownerKinds[owner.tenant === 'account' ? 'account' : 'organization']}
              </Link>
            ),
          ],
          [c.createdAt, <Time iso={data.createdAt} />],
          [c.updatedAt, <Time iso={data.updatedAt} />],
        ]}
      />
      {can('Event:Query') && <ProjectSteps scope={scope} can={can} />}
      {can('AuditLog:Query') && <LatestEntries scope={scope} />}
    </>
  );
}
