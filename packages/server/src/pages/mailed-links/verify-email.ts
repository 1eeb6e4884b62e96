import type { FastifyInstance } from 'fastify';
import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../languages.ts';
import { onward, outcomeParagraph } from './outcome.ts';
import { hostedPage, servePage } from '../page.ts';
import type { PageSettings } from '../page-settings.ts';

interface Texts {
  readonly title: string;
  readonly ask: string;
  readonly button: string;
  /** Texts that replace the three above if the address joins the account `{account}`. */
  readonly joining: { readonly title: string; readonly ask: string; readonly button: string };
  readonly outcome: {
    /** The heading after the address was verified. */
    readonly verified: string;
    readonly done: string;
    readonly invalid: string;
    readonly failed: string;
  };
  readonly goOn: string;
  readonly noScript: string;
}

const texts: Record<Language, Texts> = {
  en: {
    title: 'Verify your e-mail address',
    ask: 'Select the button to confirm that this address is yours.',
    button: 'Verify e-mail address',
    joining: {
      title: 'Add this address to an account?',
      ask: 'Your e-mail address would be added to the account of {account}. Anyone who uses that account could then sign in with this address. Continue only if the account is yours.',
      button: 'Yes, it’s my account',
    },
    outcome: {
      verified: 'Your e-mail address is verified',
      done: 'Thank you. You can close this page.',
      invalid: 'This link is not valid or has expired. Sign in to request a new one.',
      failed: 'That did not work. Please try again in a moment.',
    },
    goOn: 'Continue',
    noScript: 'This page needs JavaScript. Turn it on and reload the page.',
  },
  de: {
    title: 'E-Mail-Adresse bestätigen',
    ask: 'Bestätigen Sie mit der Schaltfläche, dass diese Adresse Ihnen gehört.',
    button: 'E-Mail-Adresse bestätigen',
    joining: {
      title: 'Diese Adresse zu einem Konto hinzufügen?',
      ask: 'Ihre E-Mail-Adresse würde zum Konto von {account} hinzugefügt. Wer dieses Konto benutzt, könnte sich dann damit anmelden. Fahren Sie nur fort, wenn dieses Konto Ihnen gehört.',
      button: 'Ja, das ist mein Konto',
    },
    outcome: {
      verified: 'Ihre E-Mail-Adresse ist bestätigt',
      done: 'Vielen Dank. Sie können diese Seite schließen.',
      invalid: 'Dieser Link ist ungültig oder abgelaufen. Melden Sie sich an, um einen neuen anzufordern.',
      failed: 'Das hat nicht funktioniert. Bitte versuchen Sie es gleich noch einmal.',
    },
    goOn: 'Weiter',
    noScript: 'Diese Seite benötigt JavaScript. Schalten Sie es ein und laden Sie die Seite neu.',
  },
  es: {
    title: 'Verifique su dirección de correo',
    ask: 'Pulse el botón para confirmar que esta dirección es suya.',
    button: 'Verificar la dirección',
    joining: {
      title: '¿Añadir esta dirección a una cuenta?',
      ask: 'Su dirección de correo se añadiría a la cuenta de {account}. Quien use esa cuenta podría iniciar sesión con ella. Continúe solo si esa cuenta es suya.',
      button: 'Sí, es mi cuenta',
    },
    outcome: {
      verified: 'Su dirección de correo está verificada',
      done: 'Gracias. Puede cerrar esta página.',
      invalid: 'Este enlace no es válido o ha caducado. Inicie sesión para solicitar uno nuevo.',
      failed: 'No ha funcionado. Inténtelo de nuevo en un momento.',
    },
    goOn: 'Continuar',
    noScript: 'Esta página necesita JavaScript. Actívelo y vuelva a cargar la página.',
  },
  fr: {
    title: 'Vérifiez votre adresse e-mail',
    ask: 'Appuyez sur le bouton pour confirmer que cette adresse est la vôtre.',
    button: 'Vérifier l’adresse e-mail',
    joining: {
      title: 'Ajouter cette adresse à un compte ?',
      ask: 'Votre adresse e-mail serait ajoutée au compte de {account}. La personne qui utilise ce compte pourrait alors se connecter avec elle. Continuez seulement si ce compte est le vôtre.',
      button: 'Oui, c’est mon compte',
    },
    outcome: {
      verified: 'Votre adresse e-mail est vérifiée',
      done: 'Merci. Vous pouvez fermer cette page.',
      invalid: 'Ce lien n’est pas valide ou a expiré. Connectez-vous pour en demander un nouveau.',
      failed: 'Cela n’a pas fonctionné. Réessayez dans un instant.',
    },
    goOn: 'Continuer',
    noScript: 'Cette page nécessite JavaScript. Activez-le et rechargez la page.',
  },
};

/**
 * The page to which a verification mail links, for installations without a frontend. Opening it changes nothing,
 * because mail scanners open every link; the button posts the token to the API. Only the script reads the address of
 * the page, which contains the token and perhaps the account that the mail address would join. The page shows that
 * account, because another person may have requested the mail.
 */
function page(language: Language, { home }: PageSettings): Html {
  const { title, ask, button, joining, outcome, goOn, noScript } = texts[language];
  const body = html`<h1 id="title" data-joining="${joining.title}">${title}</h1>
    <p id="ask" data-joining="${joining.ask}">${ask}</p>
    <button id="verify" type="button" data-joining="${joining.button}">${button}</button>
    ${outcomeParagraph(outcome)} ${onward(home, goOn)}
    <noscript><p>${noScript}</p></noscript>`;
  return hostedPage({ language, title, body, script: '/hosted/verify-email.js' });
}

const script = `const button = document.getElementById('verify');
const outcome = document.getElementById('outcome');
const token = new URLSearchParams(location.search).get('token') || '';
const account = new URLSearchParams(location.hash.slice(1)).get('account');
if (account)
  for (const element of document.querySelectorAll('[data-joining]'))
    element.textContent = element.dataset.joining.replace('{account}', () => account);

const showOutcome = (name, tone) => {
  outcome.textContent = outcome.dataset[name];
  outcome.className = tone;
};
const finish = (name, tone) => {
  button.hidden = true;
  document.getElementById('ask').hidden = true;
  document.getElementById('onward')?.removeAttribute('hidden');
  showOutcome(name, tone);
  if (tone === 'good') document.getElementById('title').textContent = outcome.dataset.verified;
};

button.addEventListener('click', async () => {
  button.disabled = true;
  outcome.textContent = '';
  try {
    const response = await fetch('/api/auth/verify-email', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      credentials: 'omit',
      body: JSON.stringify({ token }),
    });
    if (response.ok) {
      finish('done', 'good');
      // The token is used up, but it must not stay in the history. The outcome does, for people who come back.
      history.replaceState({ isDone: true }, '', location.pathname);
    } else if (response.status === 400) finish('invalid', 'bad');
    else showOutcome('failed', 'bad');
  } catch {
    showOutcome('failed', 'bad');
  }
  button.disabled = false;
});

if (history.state?.isDone) finish('done', 'good');
else if (!token) finish('invalid', 'bad');
`;

/** Serves `/hosted/verify-email`. */
export const registerVerifyEmailPage = (app: FastifyInstance, settings: PageSettings): void =>
  servePage(app, { path: '/hosted/verify-email', page: (language) => page(language, settings), script });
