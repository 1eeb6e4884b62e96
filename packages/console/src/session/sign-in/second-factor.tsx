import { useState, type FormEvent } from 'react';
import { useMutation } from '@tanstack/react-query';
import { useTexts } from '../../i18n/language.ts';
import { ErrorBox } from '../error-box.tsx';
import { Field } from '../../ui/field.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { acceptTokens, withSessionLock, isRefused, withProof } from '../session.ts';
import { sessionTexts } from '../session-texts.ts';

/** Asks for a code from the authenticator app, a recovery code, or a passkey. */
export function SecondFactor({ onDone }: { readonly onDone: () => void }) {
  const t = useTexts(sessionTexts);
  const [code, setCode] = useState('');
  const verify = useMutation({
    mutationFn: async () => {
      const text = code.trim();
      const proof = /^(?:\d *){6}$/.test(text) ? { code: text } : { recoveryCode: text };
      acceptTokens(await withProof((api) => withSessionLock(() => api.verifyMfa(proof))));
    },
    onSuccess: onDone,
    meta: { isProof: true },
  });
  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        verify.mutate();
      }}
    >
      <Field label={t.code} hint={t.codeHint} problem={isRefused(verify.error) ? t.wrongCode : undefined}>
        {(attributes) => (
          <input
            {...attributes}
            autoComplete="one-time-code"
            required
            value={code}
            onChange={(event) => setCode(event.target.value)}
          />
        )}
      </Field>
      {verify.error && !isRefused(verify.error) && <ErrorBox error={verify.error} />}
      <button type="submit" className="main" disabled={verify.isPending}>
        {t.confirm}
      </button>
      <PasskeyButton act="confirm" onDone={onDone} />
    </form>
  );
}
