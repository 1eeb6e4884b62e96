import { Link } from '@tanstack/react-router';
import { plural } from '../../i18n/format.ts';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { Failure } from '../../scopes/failure.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/tables/table.tsx';
import type { Attributes } from '../why/question.ts';
import { useWhoCan, type AllowedUser } from './use-who-can.ts';
import type { PermissionPair } from '../why/permission-fields.tsx';
import { whoCanTexts } from './who-can-texts.ts';

/** Lists the users who have the permission, and says whether the list is complete. */
export function AllowedUsers({
  permission,
  thing,
}: {
  readonly permission: PermissionPair;
  readonly thing: Attributes | null;
}) {
  const t = useTexts(whoCanTexts);
  const list = useWhoCan(permission, thing);
  const columns = useColumns(permission);
  const { users, error, isComplete, isRunning } = list;
  if (!list.hasAnswer)
    return error ? (
      <Failure error={error} permission="Authorization:Check" onRetry={() => void list.retry()} />
    ) : (
      <Skeleton />
    );
  const count = plural(users.length, t.people);
  return (
    <section className="allowed">
      <h2>
        {t.heading}{' '}
        <code>
          {permission.resource}:{permission.action}
        </code>
      </h2>
      <p role="status" className={isComplete ? 'completeness all' : 'completeness'}>
        {isComplete
          ? users.length === 0
            ? t.nobody
            : t.complete(count)
          : isRunning
            ? t.running(count)
            : t.more(count)}
      </p>
      {users.length > 0 && <Table label={t.heading} columns={columns} rows={users} />}
      {error && <Failure error={error} onRetry={() => void list.retry()} />}
      {!isComplete && (
        <footer className="table-foot">
          {isRunning ? (
            <button type="button" onClick={list.stop}>
              {t.stop}
            </button>
          ) : (
            <button type="button" onClick={list.goOn}>
              {t.goOn}
            </button>
          )}
        </footer>
      )}
    </section>
  );
}

function useColumns({ resource, action }: PermissionPair): readonly Column<AllowedUser>[] {
  const t = useTexts(whoCanTexts);
  const scope = useScope();
  const { can } = useRights(scope);
  return [
    {
      key: 'name',
      label: t.person,
      cell: ({ id, name }) => (
        <Link to="/$tenant/$id/$page/$row" params={{ ...scope, page: 'may-do', row: id }} search={{}}>
          <bdi>{name}</bdi>
        </Link>
      ),
    },
    {
      key: 'reason',
      label: t.how,
      cell: ({ reason }) => (reason === 'ALLOWED_BY_CONDITION' ? t.byCondition : t.always),
    },
    {
      key: 'permission',
      label: t.permission,
      cell: ({ matchedPermission }) => <bdi>{matchedPermission.name}</bdi>,
    },
    ...(can('Authorization:Explain')
      ? [
          {
            key: 'why',
            label: t.why,
            cell: ({ id, name }: AllowedUser) => (
              <Link
                to="/$tenant/$id/$page"
                params={{ ...scope, page: 'why' }}
                search={{ user: id, resource, action }}
                aria-label={`${t.why} ${name}`}
              >
                {t.why}
              </Link>
            ),
          },
        ]
      : []),
  ];
}
