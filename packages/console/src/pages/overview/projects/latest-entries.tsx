import { Link } from '@tanstack/react-router';
import { useRead } from '../../../api/use-api.ts';
import { targetOf } from '../../../entities/declarations/entity.ts';
import { useTexts } from '../../../i18n/language.ts';
import type { Scope } from '../../../scopes/scope.ts';
import { Failure } from '../../../scopes/failure.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { Table } from '../../../ui/tables/table.tsx';
import { Time } from '../../../ui/times/time.tsx';
import { Actor } from '../../history/actor.tsx';
import { projectTexts } from './project-texts.ts';

const SHOWN = 8;

/** Shows the latest entries of the audit log. */
export function LatestEntries({ scope }: { readonly scope: Scope }) {
  const t = useTexts(projectTexts);
  const { data, error, refetch } = useRead(['AuditLog', scope, 'latest'], (api, signal) =>
    api.auditLogs({ ...targetOf(scope), limit: SHOWN }, { signal }),
  );
  if (error) return <Failure error={error} onRetry={() => refetch()} />;
  if (!data) return <Skeleton />;
  if (data.items.length === 0) return null;
  return (
    <section>
      <h2>{t.latest}</h2>
      <Table
        label={t.latest}
        rows={data.items}
        columns={[
          {
            key: 'operation',
            label: t.what,
            cell: ({ id, operation }) => (
              <Link to="/$tenant/$id/$page/$row" params={{ ...scope, page: 'audit', row: id }}>
                {operation}
              </Link>
            ),
          },
          { key: 'actor', label: t.who, cell: ({ actor }) => <Actor actor={actor} /> },
          { key: 'time', label: t.when, cell: ({ occurredAt }) => <Time iso={occurredAt} /> },
        ]}
      />
      <p className="table-foot">
        <Link to="/$tenant/$id/$page" params={{ ...scope, page: 'audit' }}>
          {t.allEntries}
        </Link>
      </p>
    </section>
  );
}
