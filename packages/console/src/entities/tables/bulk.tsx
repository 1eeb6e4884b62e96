import { useState, type FormEvent } from 'react';
import { useEach } from '../../api/use-each.ts';
import { common } from '../../i18n/common.ts';
import { formatNumber, plural } from '../../i18n/format.ts';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { ErrorBox } from '../../session/error-box.tsx';
import {
  targetOf,
  type BulkAct,
  type Entity,
  type EntityTexts,
  type Impact,
  type Row,
} from '../declarations/entity.ts';
import { formTexts } from '../declarations/form-texts.ts';
import { ImpactList } from '../forms/impact-list.tsx';
import { Steps } from '../forms/steps.tsx';

const NAMED = 20;

/** Returns the operations that the user may do on several rows of an entity. */
export function useBulkActs<R extends Row, T extends EntityTexts>(
  entity: Entity<R, T>,
): readonly BulkAct<R>[] {
  const t = useTexts(entity.texts);
  const c = useTexts(common);
  const { can } = useRights(useScope());
  const { remove } = entity;
  const deletion: BulkAct<R>[] = remove
    ? [
        {
          key: 'remove',
          label: c.remove,
          about: t.removal,
          needs: `${entity.noun}:Delete`,
          isDangerous: true,
          fits: (row) => !entity.isSystem?.(row) && !entity.isFixed?.(row),
          call: remove,
          ...(entity.hasImpact
            ? { preview: (api, input) => remove(api, { ...input, dryRun: true }) as Promise<Impact> }
            : {}),
        },
      ]
    : [];
  return [...(entity.bulk?.(t) ?? []), ...deletion].filter(({ needs }) => can(needs));
}

/** Shows how many rows are selected, and the operations on them. */
export function BulkBar<R extends Row>({
  acts,
  rows,
  nameOf,
  onDone,
}: {
  readonly acts: readonly BulkAct<R>[];
  readonly rows: readonly R[];
  readonly nameOf: (row: R) => string;
  /** Called with the rows that stay selected. */
  readonly onDone: (left: readonly R[]) => void;
}) {
  const c = useTexts(common);
  const [open, setOpen] = useState<{ readonly act: BulkAct<R>; readonly rows: readonly R[] } | null>(null);
  if (rows.length === 0 && !open) return null;
  return (
    <div className="bulk" role="group" aria-label={plural(rows.length, c.selected)}>
      <strong>{plural(rows.length, c.selected)}</strong>
      {acts.map((act) => (
        <button
          key={act.key}
          type="button"
          className={act.isDangerous ? 'bad' : ''}
          onClick={() => setOpen({ act, rows })}
        >
          {act.label}
        </button>
      ))}
      {open && (
        <BulkDialog
          act={open.act}
          rows={open.rows}
          nameOf={nameOf}
          onDone={onDone}
          onClose={() => setOpen(null)}
        />
      )}
    </div>
  );
}

function BulkDialog<R extends Row>({
  act,
  rows,
  nameOf,
  onDone,
  onClose,
}: {
  readonly act: BulkAct<R>;
  readonly rows: readonly R[];
  readonly nameOf: (row: R) => string;
  readonly onDone: (left: readonly R[]) => void;
  readonly onClose: () => void;
}) {
  const c = useTexts(common);
  const f = useTexts(formTexts);
  const target = targetOf(useScope());
  const fitting = rows.filter((row) => act.fits?.(row) ?? true);
  const others = rows.filter((row) => !fitting.includes(row));
  const [isPreviewed, setPreviewed] = useState(!act.preview);
  const preview = useEach<R, Impact | undefined>(async (api, { id }) =>
    act.preview?.(api, { ...target, id }),
  );
  const change = useEach<R, unknown>((api, { id }) => act.call(api, { ...target, id }));
  const isBusy = preview.isBusy || change.isBusy;
  const isOver = !isBusy && change.outcomes.length > 0;
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isPreviewed) return onDone(await change.run(fitting));
    const refused = await preview.run(fitting, false);
    setPreviewed(refused.length === 0);
  }
  const outcomes = change.outcomes.length > 0 ? change.outcomes : preview.outcomes;
  return (
    <Dialog
      title={`${act.label}: ${plural(rows.length, c.selected)}`}
      onClose={onClose}
      isLocked={isBusy}
      isWide
    >
      <form onSubmit={(event) => void submit(event)}>
        <p>{act.about}</p>
        {outcomes.length === 0 && <Names names={fitting.map(nameOf)} />}
        {others.length > 0 && (
          <>
            <p className="problem">{c.notApplicable}:</p>
            <Names names={others.map(nameOf)} />
          </>
        )}
        <section aria-live="polite" aria-label={c.results}>
          {outcomes.map(({ row, error, answer }) => (
            <div key={row.id} className="outcome">
              <p className={error ? 'loss' : 'gain'}>
                <bdi>{nameOf(row)}</bdi>
                {change.outcomes.length > 0 && !error && `: ${c.done}`}
              </p>
              {error && <ErrorBox error={error} />}
              {isImpact(answer) && <ImpactList impact={answer} />}
            </div>
          ))}
        </section>
        {act.preview && !isOver && <Steps act={act.label} isPreviewed={isPreviewed} />}
        <div className="buttons">
          {isBusy && (
            <button type="button" onClick={preview.isBusy ? preview.stop : change.stop}>
              {c.stop}
            </button>
          )}
          {!isOver && (
            <button
              type="submit"
              className={act.isDangerous ? 'bad' : 'main'}
              disabled={isBusy || fitting.length === 0}
            >
              {isPreviewed ? act.label : f.preview}
            </button>
          )}
          {!isBusy && (
            <button type="button" className={isOver ? 'main' : ''} onClick={onClose}>
              {isOver ? c.close : c.cancel}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

const isImpact = (answer: unknown): answer is Impact =>
  typeof answer === 'object' && answer !== null && 'affected' in answer && Array.isArray(answer.affected);

function Names({ names }: { readonly names: readonly string[] }) {
  const c = useTexts(common);
  return (
    <ul className="names">
      {names.slice(0, NAMED).map((name, at) => (
        <li key={`${at} ${name}`}>
          <bdi>{name}</bdi>
        </li>
      ))}
      {names.length > NAMED && <li>{c.more(formatNumber(names.length - NAMED))}</li>}
    </ul>
  );
}
