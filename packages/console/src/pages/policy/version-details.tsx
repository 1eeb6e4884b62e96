import type { components } from '@doorward/node/client';
import { useState } from 'react';
import { useRead } from '../../api/use-api.ts';
import { EntityForm } from '../../entities/forms/entity-form.tsx';
import { targetOf, type Impact } from '../../entities/declarations/entity.ts';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { Facts } from '../../ui/facts.tsx';
import { SecretDialog } from '../../ui/dialogs/secret-dialog.tsx';
import { Failure } from '../../scopes/failure.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { ChangedRows } from './changed-rows.tsx';
import { projectIdOf } from './project-id.ts';
import { policyTexts } from './policy-texts.ts';

export type Version = components['schemas']['PolicyVersion'];
type Secret = components['schemas']['PolicySecret'];

/** Shows what a version changed in the document, compared with the version before. */
export function VersionDetails({ version }: { readonly version: Version }) {
  const t = useTexts(policyTexts);
  const scope = useScope();
  const { number, source } = version;
  const { data, error, refetch } = useRead(
    ['Policy', scope, 'diff', number],
    (api, signal) =>
      api.policyDiff(
        { ...targetOf(scope), id: projectIdOf(scope), from: String(number - 1), to: String(number) },
        { signal },
      ),
    { isEnabled: number > 1 },
  );
  const facts = Object.entries(source ?? {}).map(([name, value]) => `${name}: ${String(value)}`);
  return (
    <>
      {facts.length > 0 && <Facts facts={[[t.source, facts.join(', ')]]} />}
      <h3>{t.changedRows}</h3>
      {number === 1 ? (
        <p>{t.firstVersion}</p>
      ) : error ? (
        <Failure error={error} onRetry={() => refetch()} />
      ) : !data ? (
        <Skeleton />
      ) : data.changes.length === 0 ? (
        <p>{t.noChanges}</p>
      ) : (
        <ChangedRows label={t.changedRows} rows={data.changes} />
      )}
    </>
  );
}

/** Applies the document of a version again, after a preview of who gains and loses permissions. */
export function Rollback({ version: { number } }: { readonly version: Version }) {
  const t = useTexts(policyTexts);
  const scope = useScope();
  const { can } = useRights(scope);
  const [isOpen, setOpen] = useState(false);
  const [planned, setPlanned] = useState<{ readonly version: string; readonly planHash: string } | null>(
    null,
  );
  const [secrets, setSecrets] = useState<readonly Secret[]>([]);
  if (!can('Policy:Apply') || !can('Policy:Plan')) return null;
  const at = { ...targetOf(scope), id: projectIdOf(scope), number };
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {t.rollback}
      </button>
      {isOpen && (
        <EntityForm
          title={`${t.rollback}: ${number}`}
          about={t.rollbackAbout}
          submitLabel={t.rollback}
          fields={[
            {
              kind: 'switch',
              name: 'allowDelete',
              label: t.allowDelete,
              hint: t.allowDeleteHint,
              initial: false,
            },
            { kind: 'text', name: 'message', label: t.reason, initial: '' },
          ]}
          preview={async (api, { allowDelete }): Promise<Impact> => {
            const plan = await api.planPolicy({ ...at, allowDelete: allowDelete === true });
            setPlanned(plan);
            // A caller who may not read users gets no impact, so the preview only says that users may be affected.
            return { dryRun: true, ...(plan.impact ?? { affected: [], truncated: true }) };
          }}
          save={(api, { allowDelete, message }) =>
            api.rollbackPolicy({
              ...at,
              allowDelete: allowDelete === true,
              ifVersion: planned?.version ?? null,
              ...(planned ? { planHash: planned.planHash } : {}),
              ...(typeof message === 'string' && message !== '' ? { message } : {}),
            })
          }
          onDone={(answer) => {
            setOpen(false);
            setSecrets(answer.secrets ?? []);
          }}
          onClose={() => setOpen(false)}
        />
      )}
      {secrets.length > 0 && (
        <SecretDialog
          title={t.newSecrets}
          name={t.newSecrets}
          secret={secrets.map(({ kind, key, secret }) => `${t.kinds[kind]} ${key}: ${secret}`).join('\n')}
          onClose={() => setSecrets([])}
        />
      )}
    </>
  );
}
