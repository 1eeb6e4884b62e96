import { Fragment, useEffect, useId, useState, type FormEvent } from 'react';
import { DoorwardError, type Api } from '@doorward/node/client';
import type { RowKey } from '../../api/refresh.ts';
import { useChange, useRequest } from '../../api/use-api.ts';
import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';
import { announce } from '../../ui/announcer.tsx';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { ErrorBox } from '../../session/error-box.tsx';
import { Control } from '../controls/control.tsx';
import type { FormField, Values } from '../declarations/form-field.ts';
import type { Impact } from '../declarations/entity.ts';
import { ImpactList } from './impact-list.tsx';
import { formTexts } from '../declarations/form-texts.ts';
import { Steps } from './steps.tsx';

/** The values that were sent, and the error with which the service refused them. */
export interface Refused {
  readonly values: Values;
  readonly error: Error;
}

/**
 * A form in a dialog. With `preview` it first shows who would gain and lose which permissions, and then saves the
 * same input. Errors are shown at their fields. Closing a form with unsaved changes asks for confirmation.
 */
export function EntityForm<A>({
  title,
  fields,
  submitLabel,
  save,
  row,
  preview,
  about,
  isDangerous = false,
  refused,
  proposal,
  saveAtOnce,
  onDone,
  onDiscard,
  onClose,
}: {
  readonly title: string;
  readonly fields: readonly FormField[];
  readonly submitLabel: string;
  readonly save: (api: Api, values: Values) => Promise<A>;
  /** The row that is changed. The form closes when the page has read this row again. */
  readonly row?: RowKey;
  readonly preview?: ((api: Api, values: Values) => Promise<Impact>) | undefined;
  /** Explains what the operation does, above the fields. */
  readonly about?: string;
  readonly isDangerous?: boolean;
  /** A form that was saved immediately and then refused. It starts with the values that were sent, and the error. */
  readonly refused?: Refused | null;
  /**
   * Changes that a link proposes. The form starts with them and their preview, and the user can save or discard them.
   */
  readonly proposal?: Values | undefined;
  /** Saves a change of harmless fields only. It needs no preview, and the form closes immediately. */
  readonly saveAtOnce?: (values: Values) => void;
  readonly onDone: (answer: A) => void;
  /** Called after the user has discarded their changes. Default: `onClose`. */
  readonly onDiscard?: () => void;
  readonly onClose: () => void;
}) {
  const t = useTexts(common);
  const f = useTexts(formTexts);
  const [start] = useState<Values>(() =>
    Object.fromEntries(fields.map(({ name, initial }) => [name, initial])),
  );
  const [values, setValues] = useState<Values>(refused?.values ?? { ...start, ...proposal });
  const [refusal, setRefusal] = useState(refused?.error ?? null);
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>(() =>
    problemsOf(refused?.error, fields),
  );
  const [isLeaving, setLeaving] = useState(false);
  /** The change is saved, but the form stays open until the page has read the row again. */
  const [isSaved, setSaved] = useState(false);
  const change = useChange(
    async (api: Api, input: Values) => {
      const answer = await save(api, input);
      setSaved(true);
      announce(isDangerous ? t.done : t.saved);
      return answer;
    },
    { row },
  );
  const question = useRequest(
    (api: Api, input: Values) => preview?.(api, input) ?? Promise.reject(new Error()),
  );
  const shown = fields.filter(({ isShown }) => isShown?.(values) ?? true);
  const changed = fields.filter(({ name }) => JSON.stringify(values[name]) !== JSON.stringify(start[name]));
  const isDirty = changed.length > 0;
  const isHarmless = saveAtOnce !== undefined && isDirty && changed.every((field) => field.isHarmless);
  const impact = question.data;
  const isPreviewed = !preview || isHarmless || impact !== undefined;

  const fail = (error: unknown): void => setProblems(problemsOf(error, fields));
  const steps = useId();
  const hasSteps = preview !== undefined && !isHarmless;
  const ask = question.mutate;
  const isProposed = proposal !== undefined && preview !== undefined;
  useEffect(() => {
    if (isProposed) ask(values, { onError: fail });
    // Runs once, for the initial values. After a change the user requests the preview.
  }, []);

  function submit(event: FormEvent): void {
    event.preventDefault();
    const missing = Object.fromEntries(
      shown
        .filter(({ isRequired, name }) => isRequired && isBlank(values[name]))
        .map(({ name }) => [name, f.required]),
    );
    const wrong = Object.fromEntries(
      shown.flatMap(({ name, check }) => {
        const problem = missing[name] ?? check?.(values[name]) ?? null;
        return problem === null ? [] : [[name, problem]];
      }),
    );
    setProblems(wrong);
    if (Object.keys(wrong).length > 0) return;
    if (isHarmless) {
      saveAtOnce(values);
      return;
    }
    if (!isPreviewed) {
      question.mutate(values, { onError: fail });
      return;
    }
    change.mutate(values, {
      onError: fail,
      onSuccess: onDone,
    });
  }

  const error = change.error ?? question.error ?? refusal;
  const isElsewhere = error !== null && Object.keys(problems).length === 0;
  const leave = (): void => (isDirty && !isSaved ? setLeaving(true) : onClose());
  return (
    <Dialog title={title} onClose={leave} isWide>
      <form onSubmit={submit} noValidate>
        {about && <p>{about}</p>}
        {shown.map((field) => (
          <Fragment key={field.name}>
            <Control
              field={field}
              value={values[field.name]}
              problem={problems[field.name]}
              onChange={(value) => {
                if (isSaved) return;
                setValues((before) => ({ ...before, [field.name]: value }));
                setProblems(({ [field.name]: _, ...others }) => others);
                question.reset();
                change.reset();
                setRefusal(null);
              }}
            />
            {field.below?.(values)}
          </Fragment>
        ))}
        {impact && <ImpactList impact={impact} />}
        {isElsewhere && <ErrorBox error={error} />}
        {hasSteps && <Steps id={steps} act={submitLabel} isPreviewed={isPreviewed} />}
        <div className="buttons">
          <button
            type="submit"
            {...(hasSteps ? { 'aria-describedby': steps } : {})}
            className={isDangerous ? 'bad' : 'main'}
            disabled={change.isPending || question.isPending}
          >
            {isPreviewed ? submitLabel : f.preview}
          </button>
          <button type="button" onClick={leave}>
            {t.cancel}
          </button>
        </div>
      </form>
      {/* This dialog is on top of the form, so the form keeps what was typed. */}
      {isLeaving && <Leaving title={title} onStay={() => setLeaving(false)} onLeave={onDiscard ?? onClose} />}
    </Dialog>
  );
}

function Leaving({
  title,
  onStay,
  onLeave,
}: {
  readonly title: string;
  readonly onStay: () => void;
  readonly onLeave: () => void;
}) {
  const t = useTexts(common);
  return (
    <Dialog title={title} onClose={onStay}>
      <p>{t.discardQuestion}</p>
      <div className="buttons">
        <button type="button" className="main" onClick={onStay}>
          {t.stay}
        </button>
        <button type="button" className="bad" onClick={onLeave}>
          {t.discard}
        </button>
      </div>
    </Dialog>
  );
}

const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** Returns the problems in an error by field; empty if one of them belongs to no field of the form. */
function problemsOf(error: unknown, fields: readonly FormField[]): Readonly<Record<string, string>> {
  if (!(error instanceof DoorwardError)) return {};
  const found = (error.details ?? []).map(({ path, message }) => {
    const [name = ''] = path.split('.');
    return [name, message] as const;
  });
  const problems: Record<string, string> = {};
  for (const [name, message] of found) {
    if (!fields.some((field) => field.name === name)) return {};
    problems[name] = name in problems ? `${problems[name]} ${message}` : message;
  }
  return problems;
}
