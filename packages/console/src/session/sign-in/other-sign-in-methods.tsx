import type { components } from '@doorward/node/client';
import { useQueryClient } from '@tanstack/react-query';
import { useTexts, type Texts } from '../../i18n/language.ts';
import { serviceUrl } from '../session.ts';

interface OtherWaysTexts {
  readonly any: string;
  readonly organization: string;
  readonly failed: string;
}

const texts: Texts<OtherWaysTexts> = {
  en: {
    any: 'Other ways to sign in, such as through your company',
    organization: 'Sign in through your organization',
    failed: 'This sign-in did not succeed. Try again, or ask the people who administer your organization.',
  },
  de: {
    any: 'Andere Anmeldewege, etwa über Ihre Firma',
    organization: 'Über Ihre Organisation anmelden',
    failed:
      'Diese Anmeldung ist nicht gelungen. Versuchen Sie es noch einmal, oder fragen Sie, wer Ihre Organisation verwaltet.',
  },
  es: {
    any: 'Otras formas de iniciar sesión, como a través de su empresa',
    organization: 'Iniciar sesión a través de su organización',
    failed:
      'Este inicio de sesión no se ha completado. Inténtelo de nuevo o pregunte a quienes administran su organización.',
  },
  fr: {
    any: 'Autres façons de se connecter, par exemple via votre entreprise',
    organization: 'Se connecter par votre organisation',
    failed:
      'Cette connexion n’a pas abouti. Réessayez, ou demandez aux personnes qui administrent votre organisation.',
  },
};

/** The search parameter with which the service reports a failed sign-in to the console. */
const FAILURE = 'error';

/** Returns the URL of the current page, to return to after the sign-in. */
function here(): string {
  const url = new URL(location.href);
  url.hash = '';
  url.searchParams.delete(FAILURE);
  return url.href;
}

/** A link to the sign-in pages of the service, which redirect back to this page. */
export function OtherSignInMethods({
  label,
  email,
}: {
  readonly label: 'any' | 'organization';
  /** The email address to fill in. Default: the one of the user, if it is known. */
  readonly email?: string;
}) {
  const t = useTexts(texts);
  const own = useQueryClient().getQueryData<components['schemas']['Me']>(['me'])?.user.email;
  const hint = email ?? own ?? '';
  const query = new URLSearchParams({ redirect: here(), ...(hint === '' ? {} : { login_hint: hint }) });
  return <a href={`${serviceUrl}/api/auth/sign-in?${query.toString()}`}>{t[label]}</a>;
}

/** Shows that a sign-in on the pages of the service has failed; nothing if it succeeded. */
export function FailedSignIn() {
  const t = useTexts(texts);
  return (
    new URLSearchParams(location.search).has(FAILURE) && (
      <p className="box bad" role="alert">
        {t.failed}
      </p>
    )
  );
}
