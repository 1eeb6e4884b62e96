import { useState, type FormEvent, type HTMLInputTypeAttribute, type ReactNode } from 'react';
import { DoorwardError } from '@doorward/node/client';
import { useMutation } from '@tanstack/react-query';
import { formatNumber } from '../../i18n/format.ts';
import { language, useTexts } from '../../i18n/language.ts';
import { acceptTokens, noteSignIn, publicClient } from '../../session/session.ts';
import { ErrorBox } from '../../session/error-box.tsx';
import { Field } from '../../ui/field.tsx';
import { settleFirstUser, useFirstUserLink } from './first-user-link.ts';
import { firstUserTexts } from './first-user-texts.ts';

const empty = { name: '', email: '', password: '' };
type Values = typeof empty;

/** Creates the first user of an installation. This needs the link that the service prints. */
export default function FirstUser() {
  const t = useTexts(firstUserTexts);
  const { token } = useFirstUserLink();
  // The key resets the form for a new link.
  if (token) return <FirstUserForm key={token} token={token} />;
  return (
    <Explanation title={t.title}>
      <p>{t.noLink}</p>
      <p>{t.whereFile}</p>
    </Explanation>
  );
}

function FirstUserForm({ token }: { readonly token: string }) {
  const t = useTexts(firstUserTexts);
  const { passwordMinLength } = useFirstUserLink();
  const [values, setValues] = useState<Values>(empty);
  const [isShown, setShown] = useState(false);
  const create = useMutation({
    mutationFn: () =>
      // An account of type `organization` can also contain organizations.
      publicClient().api.createFirstUser({ ...values, token, type: 'organization', locale: language() }),
    onSuccess: (signIn) => {
      const [account] = signIn.accounts;
      settleFirstUser(account ? { tenant: 'account', id: account.id } : null);
      acceptTokens(signIn);
      noteSignIn();
    },
    meta: { isProof: true },
  });
  const { code, problems } = refusalOf(create.error);
  if (code === 'INVALID_TOKEN')
    return (
      <Explanation title={t.deadTitle} isAnswer>
        <p>{t.deadAbout}</p>
        <p>{t.deadSteps}</p>
      </Explanation>
    );
  if (code === 'CONFLICT')
    return (
      <Explanation title={t.takenTitle} isAnswer>
        <p>{t.takenAbout}</p>
        <p>{t.takenSteps}</p>
      </Explanation>
    );
  const field = (
    name: keyof Values,
    label: string,
    hint: string | undefined,
    input: {
      readonly type: HTMLInputTypeAttribute;
      readonly autoComplete: string;
      readonly maxLength: number;
    },
  ) => (
    <Field label={label} hint={hint} problem={problems.get(name)}>
      {(attributes) => (
        <input
          {...attributes}
          {...input}
          required
          value={values[name]}
          onChange={(event) => setValues((before) => ({ ...before, [name]: event.target.value }))}
        />
      )}
    </Field>
  );
  return (
    <form
      className="sign-in"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <h1>{t.title}</h1>
      <p>{t.about}</p>
      {field('name', t.name, undefined, { type: 'text', autoComplete: 'name', maxLength: 255 })}
      {field('email', t.email, t.emailHint, { type: 'email', autoComplete: 'username', maxLength: 254 })}
      {field('password', t.password, t.passwordHint(formatNumber(passwordMinLength)), {
        type: isShown ? 'text' : 'password',
        autoComplete: 'new-password',
        maxLength: 128,
      })}
      <label className="switch">
        <input type="checkbox" checked={isShown} onChange={(event) => setShown(event.target.checked)} />
        {t.show}
      </label>
      {create.error && problems.size === 0 && <ErrorBox error={create.error} />}
      <button type="submit" className="main" disabled={create.isPending}>
        {t.submit}
      </button>
    </form>
  );
}

/** With `isAnswer` the explanation replaces the form, so it receives the focus. */
function Explanation({
  title,
  isAnswer = false,
  children,
}: {
  readonly title: string;
  readonly isAnswer?: boolean;
  readonly children: ReactNode;
}) {
  const t = useTexts(firstUserTexts);
  return (
    <div className="sign-in">
      <h1 tabIndex={-1} ref={(heading) => void (isAnswer && heading?.focus())}>
        {title}
      </h1>
      {children}
      <p>
        <a href={import.meta.env.BASE_URL}>{t.toSignIn}</a>
      </p>
    </div>
  );
}

/** Returns the code of an error, and its messages by field. */
function refusalOf(error: unknown): {
  readonly code: string | undefined;
  readonly problems: ReadonlyMap<string, string>;
} {
  if (!(error instanceof DoorwardError)) return { code: undefined, problems: new Map() };
  const problems = new Map<string, string>();
  for (const { path, message } of error.details ?? [])
    problems.set(path, [problems.get(path), message].filter(Boolean).join(' '));
  return { code: error.code, problems };
}
