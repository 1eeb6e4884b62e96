import { useState, type FormEvent } from 'react';
import { DoorwardError, type Api, type components } from '@doorward/node/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTexts } from '../../i18n/language.ts';
import { ErrorBox } from '../error-box.tsx';
import { Field } from '../../ui/field.tsx';
import { FailedSignIn, OtherSignInMethods } from './other-sign-in-methods.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import {
  acceptTokens,
  prepareSessionEnd,
  withSessionLock,
  isRefused,
  noteSignIn,
  publicClient,
} from '../session.ts';
import { sessionTexts } from '../session-texts.ts';

type Mode = 'signIn' | 'register' | 'reset';

/**
 * The form to sign in with email address and password or a passkey, to register, and to reset a forgotten password.
 * With `isAgain` it is shown over a page that continues afterwards.
 */
export function SignIn({
  isAgain = false,
  onDone,
}: {
  readonly isAgain?: boolean;
  readonly onDone?: () => void;
}) {
  const t = useTexts(sessionTexts);
  const [mode, setMode] = useState<Mode>('signIn');
  const known = useQueryClient().getQueryData<components['schemas']['Me']>(['me'])?.user.email;
  const [email, setEmail] = useState((isAgain && known) || '');
  const [password, setPassword] = useState('');
  const [name, setName] = useState('');
  const [notice, setNotice] = useState<string | null>(null);
  const act = useMutation({
    mutationFn: async () => {
      // Prepared first, because the sign-in replaces the tokens that are needed to end the former session.
      const endFormer = prepareSessionEnd();
      const result = await withSessionLock(() => acts[mode](publicClient().api, { email, password, name }));
      if (result === 'signedIn') void endFormer?.();
      return result;
    },
    // A 401 here means a wrong password, not that the session has ended.
    meta: { isProof: true },
    onSuccess: (result) => {
      if (result === 'signedIn') onDone?.();
      else setNotice(t[result]);
    },
  });
  const resend = useMutation({
    mutationFn: () => publicClient().api.resendVerification({ email }),
    onSuccess: () => {
      act.reset();
      setNotice(t.verifyFirst);
    },
  });
  const isUnverified = act.error instanceof DoorwardError && act.error.code === 'EMAIL_VERIFICATION_REQUIRED';
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setNotice(null);
    act.mutate();
  };
  const go = (next: Mode): void => {
    setMode(next);
    setNotice(null);
    act.reset();
  };
  const title = { signIn: t.signIn, register: t.register, reset: t.toReset }[mode];
  return (
    <form className="sign-in" onSubmit={submit}>
      {!isAgain && <h1>{title}</h1>}
      {!isAgain && <FailedSignIn />}
      {mode === 'register' && (
        <Field label={t.name}>
          {(attributes) => (
            <input
              {...attributes}
              autoComplete="name"
              maxLength={255}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
      )}
      <Field label={t.email}>
        {(attributes) => (
          <input
            {...attributes}
            type="email"
            autoComplete="username"
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      {mode !== 'reset' && (
        <Field label={t.password} problem={isRefused(act.error) ? t.wrongPassword : undefined}>
          {(attributes) => (
            <input
              {...attributes}
              type="password"
              autoComplete={mode === 'register' ? 'new-password' : 'current-password'}
              required
              maxLength={128}
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          )}
        </Field>
      )}
      {act.error && !isRefused(act.error) && <ErrorBox error={act.error} />}
      {isUnverified && (
        <p>
          <button type="button" className="quiet" disabled={resend.isPending} onClick={() => resend.mutate()}>
            {t.resend}
          </button>
        </p>
      )}
      {resend.error && <ErrorBox error={resend.error} />}
      {notice && (
        <p className="box" role="status">
          {notice}
        </p>
      )}
      <button type="submit" className="main" disabled={act.isPending}>
        {mode === 'reset' ? t.sendLink : title}
      </button>
      {mode === 'signIn' && <PasskeyButton act="signIn" {...(onDone && { onDone })} />}
      {mode === 'signIn' && (
        <p>
          <OtherSignInMethods label="any" email={email} />
        </p>
      )}
      {!isAgain && (
        <p className="links">
          {mode !== 'signIn' && (
            <button type="button" className="quiet" onClick={() => go('signIn')}>
              {t.toSignIn}
            </button>
          )}
          {mode !== 'register' && (
            <button type="button" className="quiet" onClick={() => go('register')}>
              {t.toRegister}
            </button>
          )}
          {mode !== 'reset' && (
            <button type="button" className="quiet" onClick={() => go('reset')}>
              {t.toReset}
            </button>
          )}
        </p>
      )}
    </form>
  );
}

interface Input {
  readonly email: string;
  readonly password: string;
  readonly name: string;
}

const acts: Readonly<
  Record<Mode, (api: Api, input: Input) => Promise<'signedIn' | 'linkSent' | 'verifyFirst'>>
> = {
  async signIn(api, { email, password }) {
    acceptTokens(await api.login({ provider: 'email', providerId: email, providerData: { password } }));
    noteSignIn();
    return 'signedIn';
  },
  async register(api, { email, password, name }) {
    const answer = await api.register({
      provider: 'email',
      providerId: email,
      providerData: { password },
      // An account of type `organization` can also contain organizations.
      type: 'organization',
      ...(name ? { name } : {}),
    });
    if (!('accessToken' in answer)) return 'verifyFirst';
    acceptTokens(answer);
    noteSignIn();
    return 'signedIn';
  },
  async reset(api, { email }) {
    await api.requestPasswordReset({ email });
    return 'linkSent';
  },
};
