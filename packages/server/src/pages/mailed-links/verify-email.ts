import type { FastifyInstance } from 'fastify';
import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../i18n/translate.ts';
import { onward, outcomeParagraph } from './outcome.ts';
import { hostedPage, servePage } from '../page.ts';
import type { PageSettings } from '../page-settings.ts';

interface Texts {
  readonly title: string;
  readonly ask: string;
  readonly button: string;
  readonly outcome: {
    /** The heading after it. */
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
 * The page to which a verification mail links, for installations without a frontend. Opening it changes nothing, because
 * mail scanners open every link; the button posts the token to the API. Only the script reads the token from the address.
 */
function page(language: Language, { home }: PageSettings): Html {
  const { title, ask, button, outcome, goOn, noScript } = texts[language];
  const body = html`<h1 id="title">${title}</h1>
    <p id="ask">${ask}</p>
    <button id="verify" type="button">${button}</button>
    ${outcomeParagraph(outcome)} ${onward(home, goOn)}
    <noscript><p>${noScript}</p></noscript>`;
  return hostedPage({ language, title, body, script: '/hosted/verify-email.js' });
}

const script = `const button = document.getElementById('verify');
const outcome = document.getElementById('outcome');
const token = new URLSearchParams(location.search).get('token') || '';

const showOutcome = (name, tone) => {
  outcome.textContent = outcome.dataset[name];
  outcome.className = tone;
};
const finish = (name, tone) => {
  button.hidden = true;
  document.getElementById('ask').hidden = true;
  showOutcome(name, tone);
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
      document.getElementById('title').textContent = outcome.dataset.verified;
      document.getElementById('onward')?.removeAttribute('hidden');
      // The token is used up; it must not stay in the history all the same.
      history.replaceState(null, '', location.pathname);
    } else if (response.status === 400) finish('invalid', 'bad');
    else showOutcome('failed', 'bad');
  } catch {
    showOutcome('failed', 'bad');
  }
  button.disabled = false;
});

if (!token) finish('invalid', 'bad');
`;

/** Serves `/hosted/verify-email`. */
export const registerVerifyEmailPage = (app: FastifyInstance, settings: PageSettings): void =>
  servePage(app, { path: '/hosted/verify-email', page: (language) => page(language, settings), script });
