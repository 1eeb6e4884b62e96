import { useState, type FormEvent } from 'react';
import type { Api, components } from '@doorward/node/client';
import { useChange } from '../../../api/use-api.ts';
import { common } from '../../../i18n/common.ts';
import { useTexts } from '../../../i18n/language.ts';
import { acceptTokens, isRefused } from '../../../session/session.ts';
import { sessionTexts } from '../../../session/session-texts.ts';
import { announce } from '../../../ui/announcer.tsx';
import { Dialog } from '../../../ui/dialogs/dialog.tsx';
import { ErrorBox } from '../../../session/error-box.tsx';
import { Exact, Facts } from '../../../ui/facts.tsx';
import { Field } from '../../../ui/field.tsx';
import { QrPicture } from './qr-picture.tsx';
import { secondFactorTexts } from './second-factor-texts.ts';

/** Shows the secret of a new authenticator app, and asks for its first code. Closing without a code removes the app. */
export function FactorSetUp({
  created: { factor, secret, otpauthUrl },
  onDone,
  onClose,
}: {
  readonly created: components['schemas']['CreatedMfaFactor'];
  /** Called when the app is enabled. The first factor of a user comes with recovery codes. */
  readonly onDone: (recoveryCodes: readonly string[] | null) => void;
  readonly onClose: () => void;
}) {
  const t = useTexts(secondFactorTexts);
  const c = useTexts(common);
  const s = useTexts(sessionTexts);
  const [code, setCode] = useState('');
  const enable = useChange(
    async (api: Api, input: string) => {
      const verified = await api.verifyMfaFactor({ id: factor.id, code: input });
      acceptTokens(verified);
      return verified;
    },
    { isProof: true },
  );
  const drop = useChange((api: Api, id: string) => api.deleteMfaFactor({ id }));
  const close = (): void => {
    // While the factor is being enabled, closing must not delete it.
    if (enable.isPending) return;
    drop.mutate(factor.id);
    onClose();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    enable.mutate(code, {
      onSuccess: ({ recoveryCodes }) => {
        announce(t.enabled);
        onDone(recoveryCodes);
      },
    });
  };
  return (
    <Dialog title={t.setUp} onClose={close}>
      <p>{t.scan}</p>
      {otpauthUrl !== null && <QrPicture text={otpauthUrl} label={t.qr} />}
      <Facts
        facts={[
          [t.secret, secret && <Exact text={secret} />],
          [t.address, otpauthUrl && <Exact text={otpauthUrl} />],
        ]}
      />
      <form onSubmit={submit}>
        <Field label={t.code} hint={t.codeHint} problem={isRefused(enable.error) ? s.wrongCode : undefined}>
          {(attributes) => (
            <input
              {...attributes}
              autoComplete="one-time-code"
              inputMode="numeric"
              required
              maxLength={32}
              value={code}
              onChange={(event) => setCode(event.target.value)}
            />
          )}
        </Field>
        {enable.error && !isRefused(enable.error) && <ErrorBox error={enable.error} />}
        <div className="buttons">
          <button type="submit" className="main" disabled={enable.isPending}>
            {t.enable}
          </button>
          <button type="button" onClick={close}>
            {c.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
