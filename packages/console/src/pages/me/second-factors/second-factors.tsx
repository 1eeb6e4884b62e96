import { useState } from 'react';
import type { Api, components } from '@doorward/node/client';
import { EntityForm } from '../../../entities/forms/entity-form.tsx';
import { plural } from '../../../i18n/format.ts';
import { useTexts } from '../../../i18n/language.ts';
import { Chip } from '../../../ui/chips.tsx';
import { SecretDialog } from '../../../ui/dialogs/secret-dialog.tsx';
import { Failure } from '../../../scopes/failure.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { Table } from '../../../ui/tables/table.tsx';
import { Time } from '../../../ui/times/time.tsx';
import { Confirmation } from '../parts/confirmation.tsx';
import { lastUsedColumn } from '../parts/last-used-column.tsx';
import { useCodesNote, useOwnApps } from './own-factors.ts';
import { ownTexts } from '../parts/own-texts.ts';
import { secondFactorTexts } from './second-factor-texts.ts';
import { FactorSetUp } from './factor-set-up.tsx';

type Status = components['schemas']['MfaStatus'];
type Factor = components['schemas']['MfaFactor'];

type Act =
  | { readonly kind: 'add' }
  | { readonly kind: 'setUp'; readonly created: components['schemas']['CreatedMfaFactor'] }
  | { readonly kind: 'remove'; readonly factor: Factor }
  | { readonly kind: 'newCodes' }
  | { readonly kind: 'codes'; readonly codes: readonly string[] };

/** Lists the authenticator apps of the user, and manages the recovery codes. */
export function SecondFactors() {
  const t = useTexts(secondFactorTexts);
  const { data, error, refetch } = useOwnApps();
  const withCodesNote = useCodesNote();
  const consequenceOf = (factor: Factor): string => {
    if (!factor.isEnabled) return t.removal;
    return withCodesNote(isLastApp(data, factor) ? t.removalOfLastApp : t.removal);
  };
  const [act, setAct] = useState<Act | null>(null);
  const close = (): void => setAct(null);
  return (
    <section>
      <h2>{t.title}</h2>
      <p>{t.about}</p>
      {error && <Failure error={error} onRetry={() => refetch()} />}
      {!data && !error && <Skeleton rows={2} />}
      {data && <FactorList status={data} onAct={setAct} />}
      {act?.kind === 'add' && (
        <EntityForm
          title={t.setUp}
          submitLabel={t.next}
          fields={[{ kind: 'text', name: 'name', label: t.name, isRequired: true, initial: t.nameInitial }]}
          save={(api: Api, { name }) => api.createMfaFactor({ name: String(name) })}
          onDone={(created) => setAct({ kind: 'setUp', created })}
          onClose={close}
        />
      )}
      {act?.kind === 'setUp' && (
        <FactorSetUp
          created={act.created}
          onDone={(codes) => setAct(codes ? { kind: 'codes', codes } : null)}
          onClose={close}
        />
      )}
      {act?.kind === 'remove' && (
        <Confirmation
          title={t.removeLabel(act.factor.name)}
          consequence={consequenceOf(act.factor)}
          submitLabel={t.removeLabel(act.factor.name)}
          act={(api) => api.deleteMfaFactor({ id: act.factor.id })}
          onClose={close}
        />
      )}
      {act?.kind === 'newCodes' && (
        <EntityForm
          title={t.newCodes}
          about={t.newCodesText}
          submitLabel={t.newCodes}
          fields={[]}
          save={(api: Api) => api.regenerateMfaRecoveryCodes({})}
          onDone={({ recoveryCodes }) => setAct({ kind: 'codes', codes: recoveryCodes })}
          onClose={close}
        />
      )}
      {act?.kind === 'codes' && (
        <SecretDialog title={t.codes} name={t.codes} secret={act.codes.join('\n')} onClose={close} />
      )}
    </section>
  );
}

const isLastApp = (status: Status | undefined, factor: Factor): boolean =>
  factor.isEnabled && status?.factors.filter(({ isEnabled }) => isEnabled).length === 1;

function FactorList({ status, onAct }: { readonly status: Status; readonly onAct: (act: Act) => void }) {
  const t = useTexts(secondFactorTexts);
  const own = useTexts(ownTexts);
  const { factors, enabled, recoveryCodesLeft } = status;
  // A user with only passkeys has recovery codes too.
  const hasCodes = enabled || recoveryCodesLeft > 0;
  return (
    <>
      {factors.length > 0 && (
        <Table
          label={t.title}
          rows={factors}
          columns={[
            {
              key: 'name',
              label: t.name,
              cell: ({ name, isEnabled }) => (
                <>
                  <bdi>{name}</bdi> {!isEnabled && <Chip>{t.pending}</Chip>}
                </>
              ),
            },
            { key: 'createdAt', label: t.added, cell: ({ createdAt }) => <Time iso={createdAt} /> },
            lastUsedColumn(own),
            {
              key: 'remove',
              label: own.remove,
              cell: (factor) => (
                <button
                  type="button"
                  className="quiet"
                  aria-label={t.removeLabel(factor.name)}
                  onClick={() => onAct({ kind: 'remove', factor })}
                >
                  {own.remove}
                </button>
              ),
            },
          ]}
        />
      )}
      {hasCodes && <p className="table-foot">{plural(recoveryCodesLeft, t.codesLeft)}</p>}
      <div className="buttons">
        <button type="button" className={enabled ? '' : 'main'} onClick={() => onAct({ kind: 'add' })}>
          {enabled ? t.another : t.setUp}
        </button>
        {hasCodes && (
          <button type="button" onClick={() => onAct({ kind: 'newCodes' })}>
            {t.newCodes}
          </button>
        )}
      </div>
    </>
  );
}
