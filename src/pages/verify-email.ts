import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../events/mail-layout.ts';
import type { Language } from '../i18n/translate.ts';
import { hostedPage, servePage } from './page.ts';

/**
 * The page behind the link of a verification mail, for installations without a frontend of their own. Opening it
 * changes nothing, because mail scanners open every link; the button posts the token to the API. The token is read
 * from the address by the script and never becomes part of the page.
 */
interface Texts {
  readonly title: string;
  readonly ask: string;
  readonly button: string;
  readonly done: string;
  readonly invalid: string;
  readonly failed: string;
  readonly noScript: string;
}

const texts: Record<Language, Texts> = {
  en: {
    title: 'Verify your e-mail address',
    ask: 'Press the button to confirm that this address is yours.',
    button: 'Verify e-mail address',
    done: 'Thank you. Your e-mail address is verified; you can close this page.',
    invalid: 'This link is not valid or no longer valid. Sign in and ask for a new one.',
    failed: 'That did not work. Please try again in a moment.',
    noScript: 'This page needs JavaScript.',
  },
  de: {
    title: 'E-Mail-Adresse bestätigen',
    ask: 'Bestätigen Sie mit der Schaltfläche, dass diese Adresse Ihnen gehört.',
    button: 'E-Mail-Adresse bestätigen',
    done: 'Vielen Dank. Ihre E-Mail-Adresse ist bestätigt; Sie können diese Seite schließen.',
    invalid:
      'Dieser Link ist ungültig oder nicht mehr gültig. Melden Sie sich an und fordern Sie einen neuen an.',
    failed: 'Das hat nicht funktioniert. Bitte versuchen Sie es gleich noch einmal.',
    noScript: 'Diese Seite benötigt JavaScript.',
  },
  es: {
    title: 'Verifique su dirección de correo',
    ask: 'Pulse el botón para confirmar que esta dirección es suya.',
    button: 'Verificar la dirección',
    done: 'Gracias. Su dirección de correo está verificada; puede cerrar esta página.',
    invalid: 'Este enlace no es válido o ya no lo es. Inicie sesión y solicite uno nuevo.',
    failed: 'No ha funcionado. Inténtelo de nuevo en un momento.',
    noScript: 'Esta página necesita JavaScript.',
  },
  fr: {
    title: 'Vérifiez votre adresse e-mail',
    ask: 'Appuyez sur le bouton pour confirmer que cette adresse est la vôtre.',
    button: "Vérifier l'adresse e-mail",
    done: 'Merci. Votre adresse e-mail est vérifiée ; vous pouvez fermer cette page.',
    invalid: "Ce lien n'est pas valide ou ne l'est plus. Connectez-vous et demandez-en un nouveau.",
    failed: "Cela n'a pas fonctionné. Réessayez dans un instant.",
    noScript: 'Cette page nécessite JavaScript.',
  },
};

function page(language: Language): string {
  const { title, ask, button, done, invalid, failed, noScript } = texts[language];
  const html = escapeHtml;
  const body = `      <h1>${html(title)}</h1>
      <p id="ask">${html(ask)}</p>
      <button id="verify" type="button">${html(button)}</button>
      <p id="outcome" role="status" data-done="${html(done)}" data-invalid="${html(invalid)}" data-failed="${html(failed)}"></p>
      <noscript><p>${html(noScript)}</p></noscript>`;
  return hostedPage({ language, title, body, script: '/hosted/verify-email.js' });
}

const script = `const button = document.getElementById('verify');
const outcome = document.getElementById('outcome');
const token = new URLSearchParams(location.search).get('token') || '';

const say = (name, tone) => {
  outcome.textContent = outcome.dataset[name];
  outcome.className = tone;
};
const finish = (name, tone) => {
  button.hidden = true;
  document.getElementById('ask').hidden = true;
  say(name, tone);
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
      // Used up, and so worth nothing in the history; gone all the same.
      history.replaceState(null, '', location.pathname);
    } else if (response.status === 400) finish('invalid', 'bad');
    else say('failed', 'bad');
  } catch {
    say('failed', 'bad');
  }
  button.disabled = false;
});

if (!token) finish('invalid', 'bad');
`;

/** Serves `/hosted/verify-email`. */
export const registerVerifyEmailPage = (app: FastifyInstance): void =>
  servePage(app, { path: '/hosted/verify-email', page, script });
