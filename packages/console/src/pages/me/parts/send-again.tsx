import { useMutation } from '@tanstack/react-query';
import { useTexts } from '../../../i18n/language.ts';
import { publicClient } from '../../../session/session.ts';
import { announce } from '../../../ui/announcer.tsx';
import { ErrorBox } from '../../../session/error-box.tsx';
import { ownTexts } from './own-texts.ts';

/** A button that sends the verification mail for an email address again. */
export function SendAgain({ email }: { readonly email: string }) {
  const t = useTexts(ownTexts);
  const send = useMutation({
    mutationFn: () => publicClient().api.resendVerification({ email }),
    onSuccess: () => announce(t.mailSent),
  });
  return (
    <>
      <button type="button" className="quiet" disabled={send.isPending} onClick={() => send.mutate()}>
        {t.sendAgain}
      </button>
      {send.error && <ErrorBox error={send.error} />}
    </>
  );
}
