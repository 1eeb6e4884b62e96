import { useState } from 'react';
import { useLocation, useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { DoorwardError, type Api } from '@doorward/node/client';
import { useRead } from '../api/use-api.ts';
import { common } from '../i18n/common.ts';
import { useTexts } from '../i18n/language.ts';
import { useRights, useScope } from '../scopes/use-scope.ts';
import { Dialog } from '../ui/dialogs/dialog.tsx';
import { Exact, Facts } from '../ui/facts.tsx';
import { Failure } from '../scopes/failure.tsx';
import { Empty, Skeleton } from '../ui/states.tsx';
import { Time } from '../ui/times/time.tsx';
import { EntityForm } from './forms/entity-form.tsx';
import { targetOf, type Entity, type EntityTexts, type Impact, type Row } from './declarations/entity.ts';
import type { Values } from './declarations/form-field.ts';
import { withRole } from './declarations/proposal.ts';
import { RowForm } from './forms/row-form.tsx';

/** The panel of one row: its fields, its actions and its details. */
export function EntityPanel<R extends Row, T extends EntityTexts>({
  entity,
  id,
}: {
  readonly entity: Entity<R, T>;
  readonly id: string;
}) {
  const t = useTexts(entity.texts);
  const c = useTexts(common);
  const scope = useScope();
  const rights = useRights(scope);
  const navigate = useNavigate();
  const { give } = useSearch({ strict: false });
  const router = useRouter();
  const back = (): void => router.history.back();
  // If another page proposed this change, the browser returns to that page afterwards, because it shows the result.
  const isAnswer = useLocation({ select: ({ state }) => state.isProposal === true }) && give !== undefined;
  const [chosen, setAct] = useState<'show' | 'edit' | 'remove' | null>(null);
  const {
    data: row,
    error,
    isPending,
    refetch,
  } = useRead([entity.noun, scope, 'row', id], (api, signal) =>
    entity.read(api, { ...targetOf(scope), id }, signal),
  );
  const close = (): void =>
    void navigate({
      to: '/$tenant/$id/$page',
      params: ({ tenant = '', id: of = '', page = '' }) => ({ tenant, id: of, page }),
      search: (before) => ({ ...before, give: undefined }),
    });
  const show = (): void => setAct('show');

  if (error instanceof DoorwardError && error.status === 404)
    return (
      <Dialog title={c.notFound} onClose={close}>
        <Empty title={c.notFoundText} />
      </Dialog>
    );
  if (!row)
    return (
      <Dialog title={t.title} onClose={close}>
        {isPending && <Skeleton />}
        {error && <Failure error={error} permission={`${entity.noun}:Query`} onRetry={() => refetch()} />}
      </Dialog>
    );
  const target = { ...targetOf(scope), id };
  const isSystem = entity.isSystem?.(row) ?? false;
  const isFixed = isSystem || (entity.isFixed?.(row) ?? false);
  const mayChange = entity.update !== undefined && !isFixed && rights.can(`${entity.noun}:Update`);
  const fields = entity.fields?.(t, row, c) ?? [];
  const proposal = withRole(fields, give);
  // A link that proposes a role opens the form directly.
  const act = chosen ?? (proposal && mayChange ? 'edit' : 'show');
  if (act === 'remove' && entity.remove)
    return (
      <EntityForm
        title={`${c.remove}: ${entity.name(row)}`}
        submitLabel={c.remove}
        fields={[]}
        about={t.removal}
        isDangerous
        save={(api: Api) => entity.remove?.(api, target) as Promise<unknown>}
        preview={
          entity.hasImpact
            ? (api) => entity.remove?.(api, { ...target, dryRun: true }) as Promise<Impact>
            : undefined
        }
        onDone={close}
        onClose={show}
      />
    );
  const mayRemove = entity.remove !== undefined && !isFixed && rights.can(`${entity.noun}:Delete`);
  const columns = entity.columns(t, c);
  const hasTime = columns.some(({ key }) => key === 'updatedAt');
  const { update } = entity;
  return (
    <>
      {update && (
        <RowForm
          noun={entity.noun}
          row={row}
          title={entity.name(row)}
          fields={fields}
          proposal={chosen === null ? proposal : undefined}
          save={(api: Api, values: Values) => update(api, { ...target, ...values })}
          preview={
            entity.hasImpact
              ? (api, values) => update(api, { ...target, ...values, dryRun: true }) as Promise<Impact>
              : undefined
          }
          isOpen={act === 'edit'}
          onOpen={() => setAct('edit')}
          // A change with an impact closes the panel, because the list shows its result.
          onSaved={isAnswer ? back : entity.hasImpact ? close : show}
          onDiscard={isAnswer ? back : close}
          onClose={show}
        />
      )}
      {act === 'show' && (
        <Dialog title={entity.name(row)} onClose={close} isWide>
          <Facts
            facts={[
              ...columns.map((column) => [column.label, (column.full ?? column.cell)(row)] as const),
              [
                c.updatedAt,
                !hasTime && 'updatedAt' in row && typeof row.updatedAt === 'string' && (
                  <Time iso={row.updatedAt} />
                ),
              ],
              ['Id', <Exact text={row.id} label={c.copyId} />],
            ]}
          />
          {isSystem && <p className="hint">{c.builtIn}</p>}
          {entity.details?.(row)}
          <div className="buttons">
            {mayChange && (
              <button type="button" className="main" onClick={() => setAct('edit')}>
                {c.edit}
              </button>
            )}
            {entity.actions?.(row)}
            {mayRemove && (
              <button type="button" className="bad" onClick={() => setAct('remove')}>
                {c.remove}
              </button>
            )}
          </div>
        </Dialog>
      )}
    </>
  );
}
