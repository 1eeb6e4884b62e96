import { useState } from 'react';
import type { Api, components } from '@doorward/node/client';
import { EntityForm } from '../../../entities/forms/entity-form.tsx';
import { common } from '../../../i18n/common.ts';
import { useTexts } from '../../../i18n/language.ts';
import { hasPasskeys, makePasskey } from '../../../session/sign-in/passkey.ts';
import { announce } from '../../../ui/announcer.tsx';
import { Chip } from '../../../ui/chips.tsx';
import { SecretDialog } from '../../../ui/dialogs/secret-dialog.tsx';
import { Failure } from '../../../scopes/failure.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { Table } from '../../../ui/tables/table.tsx';
import { Time } from '../../../ui/times/time.tsx';
import { Confirmation } from '../parts/confirmation.tsx';
import { lastUsedColumn } from '../parts/last-used-column.tsx';
import { useCodesNote, useOwnPasskeys } from '../second-factors/own-factors.ts';
import { ownTexts } from '../parts/own-texts.ts';
import { passkeyTexts } from './passkey-texts.ts';
import { secondFactorTexts } from '../second-factors/second-factor-texts.ts';

type Passkey = components['schemas']['Passkey'];

type Act =
  | { readonly kind: 'add' }
  | { readonly kind: 'rename' | 'remove'; readonly passkey: Passkey }
  | { readonly kind: 'codes'; readonly codes: readonly string[] };

/** Adds a passkey. The browser creates it between the two calls. */
async function addPasskey(api: Api, name: string) {
  const { challengeId, publicKey } = await api.createPasskeyOptions({});
  return api.createPasskey({ challengeId, credential: await makePasskey(publicKey), name });
}

/** Lists the passkeys of the user, and lets them add, rename and remove passkeys. */
export function Passkeys() {
  const t = useTexts(passkeyTexts);
  const f = useTexts(secondFactorTexts);
  const c = useTexts(common);
  const { data, error, refetch } = useOwnPasskeys();
  const withCodesNote = useCodesNote();
  const [act, setAct] = useState<Act | null>(null);
  const close = (): void => setAct(null);
  const name = (initial: string) =>
    ({ kind: 'text', name: 'name', label: c.name, isRequired: true, initial }) as const;
  return (
    <section>
      <h2>{t.title}</h2>
      <p>{t.about}</p>
      {error && <Failure error={error} onRetry={() => refetch()} />}
      {!data && !error && <Skeleton rows={2} />}
      {data && data.length > 0 && <PasskeyTable passkeys={data} onAct={setAct} />}
      {hasPasskeys() ? (
        <div className="buttons">
          <button type="button" onClick={() => setAct({ kind: 'add' })}>
            {t.add}
          </button>
        </div>
      ) : (
        <p>{t.unavailable}</p>
      )}
      {act?.kind === 'add' && (
        <EntityForm
          title={t.add}
          about={t.addAbout}
          submitLabel={t.next}
          fields={[name(t.nameInitial)]}
          save={(api, values) => addPasskey(api, String(values['name']))}
          onDone={({ passkey, recoveryCodes }) => {
            announce(t.addedNow(passkey.name));
            setAct(recoveryCodes ? { kind: 'codes', codes: recoveryCodes } : null);
          }}
          onClose={close}
        />
      )}
      {act?.kind === 'rename' && (
        <EntityForm
          title={t.renameLabel(act.passkey.name)}
          submitLabel={c.save}
          fields={[name(act.passkey.name)]}
          save={(api: Api, values) =>
            api.updateMyPasskey({ id: act.passkey.id, name: String(values['name']) })
          }
          onDone={close}
          onClose={close}
        />
      )}
      {act?.kind === 'remove' && (
        <Confirmation
          title={t.removeLabel(act.passkey.name)}
          consequence={withCodesNote(t.removal)}
          submitLabel={t.removeLabel(act.passkey.name)}
          act={(api) => api.deleteMyPasskey({ id: act.passkey.id })}
          onClose={close}
        />
      )}
      {act?.kind === 'codes' && (
        <SecretDialog title={f.codes} name={f.codes} secret={act.codes.join('\n')} onClose={close} />
      )}
    </section>
  );
}

function PasskeyTable({
  passkeys,
  onAct,
}: {
  readonly passkeys: readonly Passkey[];
  readonly onAct: (act: Act) => void;
}) {
  const t = useTexts(passkeyTexts);
  const own = useTexts(ownTexts);
  const c = useTexts(common);
  return (
    <Table
      label={t.title}
      rows={passkeys}
      columns={[
        {
          key: 'name',
          label: c.name,
          cell: ({ name, backedUp }) => (
            <>
              <bdi>{name}</bdi> {backedUp && <Chip>{t.backedUp}</Chip>}
            </>
          ),
        },
        { key: 'createdAt', label: t.added, cell: ({ createdAt }) => <Time iso={createdAt} /> },
        lastUsedColumn(own),
        {
          key: 'acts',
          label: c.actions,
          cell: (passkey) => (
            <>
              <button
                type="button"
                className="quiet"
                aria-label={t.renameLabel(passkey.name)}
                onClick={() => onAct({ kind: 'rename', passkey })}
              >
                {t.rename}
              </button>{' '}
              <button
                type="button"
                className="quiet"
                aria-label={t.removeLabel(passkey.name)}
                onClick={() => onAct({ kind: 'remove', passkey })}
              >
                {own.remove}
              </button>
            </>
          ),
        },
      ]}
    />
  );
}
