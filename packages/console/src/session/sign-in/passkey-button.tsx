import { useMutation } from '@tanstack/react-query';
import { useTexts, type Texts } from '../../i18n/language.ts';
import { ErrorBox } from '../error-box.tsx';
import { askForPasskey, hasPasskeys } from './passkey.ts';
import {
  acceptTokens,
  prepareSessionEnd,
  withSessionLock,
  noteSignIn,
  publicClient,
  withProof,
} from '../session.ts';

const texts: Texts<{ readonly signIn: string; readonly confirm: string }> = {
  en: { signIn: 'Sign in with a passkey', confirm: 'Confirm with a passkey' },
  de: { signIn: 'Mit einem Passkey anmelden', confirm: 'Mit einem Passkey bestätigen' },
  es: { signIn: 'Iniciar sesión con una llave de acceso', confirm: 'Confirmar con una llave de acceso' },
  fr: { signIn: 'Se connecter avec une clé d’accès', confirm: 'Confirmer avec une clé d’accès' },
};

/** Signs in with a passkey, or uses one as the second factor. Hidden if the browser doesn't support passkeys. */
export function PasskeyButton({ act, onDone }: { readonly act: Act; readonly onDone?: () => void }) {
  const t = useTexts(texts);
  const use = useMutation({
    mutationFn: () => acts[act](),
    onSuccess: () => onDone?.(),
    meta: { isProof: true },
  });
  if (!hasPasskeys()) return null;
  return (
    <>
      {use.error && <ErrorBox error={use.error} />}
      <button type="button" className="passkey" disabled={use.isPending} onClick={() => use.mutate()}>
        {t[act]}
      </button>
    </>
  );
}

type Act = 'signIn' | 'confirm';

const acts: Readonly<Record<Act, () => Promise<void>>> = {
  async signIn() {
    const endFormer = prepareSessionEnd();
    const passkey = await answer();
    await withSessionLock(async () => acceptTokens(await publicClient().api.signInWithPasskey(passkey)));
    noteSignIn();
    void endFormer?.();
  },
  async confirm() {
    const passkey = await answer();
    acceptTokens(await withProof((api) => withSessionLock(() => api.verifyMfa({ passkey }))));
  },
};

async function answer() {
  const { challengeId, publicKey } = await publicClient().api.passkeyOptions({});
  return { challengeId, credential: await askForPasskey(publicKey) };
}
