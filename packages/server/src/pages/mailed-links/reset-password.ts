import type { FastifyInstance } from 'fastify';
import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../languages.ts';
import { onward, outcomeParagraph } from './outcome.ts';
import { hostedPage, servePage } from '../page.ts';
import type { PageSettings } from '../page-settings.ts';
import { passwordField, passwordRule, showPasswordScript } from '../sign-in/methods/form-parts.ts';
import { methodTexts } from '../sign-in/methods/method-texts.ts';

interface Texts {
  readonly title: string;
  readonly ask: string;
  readonly password: string;
  readonly button: string;
  readonly goOn: string;
  readonly noScript: string;
  readonly outcome: {
    readonly done: string;
    readonly invalid: string;
    readonly later: string;
    readonly failed: string;
  };
}

const texts: Record<Language, Texts> = {
  en: {
    title: 'Choose a new password',
    ask: 'When you change the password, you are signed out on all devices.',
    password: 'New password',
    button: 'Change password',
    goOn: 'Continue to the sign-in',
    noScript: 'This page needs JavaScript. Turn it on and reload the page.',
    outcome: {
      done: 'Your password has been changed. Sign in with it now, or close this page.',
      invalid: 'This link is not valid or has expired. Request a new one.',
      later: 'Too many attempts. Please try again later.',
      failed: 'That did not work. Please try again in a moment.',
    },
  },
  de: {
    title: 'Neues Passwort wählen',
    ask: 'Wenn Sie das Passwort ändern, werden Sie auf allen Geräten abgemeldet.',
    password: 'Neues Passwort',
    button: 'Passwort ändern',
    goOn: 'Weiter zur Anmeldung',
    noScript: 'Diese Seite benötigt JavaScript. Schalten Sie es ein und laden Sie die Seite neu.',
    outcome: {
      done: 'Ihr Passwort wurde geändert. Melden Sie sich jetzt damit an, oder schließen Sie diese Seite.',
      invalid: 'Dieser Link ist ungültig oder abgelaufen. Fordern Sie einen neuen an.',
      later: 'Zu viele Versuche. Bitte versuchen Sie es später noch einmal.',
      failed: 'Das hat nicht funktioniert. Bitte versuchen Sie es gleich noch einmal.',
    },
  },
  es: {
    title: 'Elija una contraseña nueva',
    ask: 'Al cambiar la contraseña se cerrará la sesión en todos sus dispositivos.',
    password: 'Contraseña nueva',
    button: 'Cambiar la contraseña',
    goOn: 'Continuar al inicio de sesión',
    noScript: 'Esta página necesita JavaScript. Actívelo y vuelva a cargar la página.',
    outcome: {
      done: 'Su contraseña se ha cambiado. Inicie sesión con ella ahora o cierre esta página.',
      invalid: 'Este enlace no es válido o ha caducado. Solicite uno nuevo.',
      later: 'Demasiados intentos. Inténtelo más tarde.',
      failed: 'No ha funcionado. Inténtelo de nuevo en un momento.',
    },
  },
  fr: {
    title: 'Choisissez un nouveau mot de passe',
    ask: 'Si vous modifiez le mot de passe, vous serez déconnecté de tous vos appareils.',
    password: 'Nouveau mot de passe',
    button: 'Modifier le mot de passe',
    goOn: 'Continuer vers la connexion',
    noScript: 'Cette page nécessite JavaScript. Activez-le et rechargez la page.',
    outcome: {
      done: 'Votre mot de passe a été modifié. Connectez-vous maintenant avec celui-ci, ou fermez cette page.',
      invalid: 'Ce lien n’est pas valide ou a expiré. Demandez-en un nouveau.',
      later: 'Trop de tentatives. Réessayez plus tard.',
      failed: 'Cela n’a pas fonctionné. Réessayez dans un instant.',
    },
  },
};

/**
 * The page to which a reset mail links, for installations without a frontend. Opening it changes nothing; the form
 * posts token and password to the API. Only the script reads the token from the address.
 */
function page(language: Language, { home, passwordMinLength }: PageSettings): Html {
  const { title, ask, password, button, goOn, noScript, outcome } = texts[language];
  const tooShort = methodTexts[language].tooShort.replace('{length}', String(passwordMinLength));
  // Only the script shows the form: without a script the browser would post the password to this page.
  const body = html`<h1>${title}</h1>
    <form id="reset" method="post" hidden novalidate>
      <fieldset>
        <p>${ask}</p>
        ${passwordField(language, {
          name: 'password',
          label: password,
          autocomplete: 'new-password',
          minLength: passwordMinLength,
          hint: passwordRule(language, passwordMinLength),
        })}
        <p role="alert" id="password-problem" class="bad hint"></p>
        <button type="submit">${button}</button>
      </fieldset>
    </form>
    ${outcomeParagraph({ ...outcome, short: tooShort })} ${onward(home, goOn)}
    <noscript><p>${noScript}</p></noscript>`;
  return hostedPage({ language, title, body, script: '/hosted/reset-password.js' });
}

const script = `${showPasswordScript}const byId = (id) => document.getElementById(id);
const form = byId('reset');
const fields = form.querySelector('fieldset');
const outcome = byId('outcome');
const password = byId('password');
const problem = byId('password-problem');
const token = new URLSearchParams(location.search).get('token') || '';

const showOutcome = (name, tone = 'bad') => {
  outcome.textContent = outcome.dataset[name];
  outcome.className = tone;
};
/** Shows a problem; an empty text removes it. */
const showProblem = (text) => {
  problem.textContent = text;
  password.setAttribute('aria-invalid', String(text !== ''));
  password.setAttribute('aria-describedby', (text === '' ? '' : 'password-problem ') + 'password-hint');
};
const finish = (name, tone) => {
  form.hidden = true;
  showOutcome(name, tone);
  byId('onward')?.removeAttribute('hidden');
};

async function reset(newPassword) {
  const response = await fetch('/api/auth/reset-password', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    credentials: 'omit',
    body: JSON.stringify({ token, newPassword }),
  });
  const { code, details = [] } = await response.json();
  if (response.ok) {
    form.reset();
    finish('done', 'good');
    // The token is used up, but it must not stay in the history. The outcome does, for people who come back.
    history.replaceState({ isDone: true }, '', location.pathname);
    return;
  }
  const passwordProblems = details.filter(({ path }) => path === 'newPassword');
  if (code === 'INVALID_TOKEN' || details.some(({ path }) => path === 'token')) return finish('invalid', 'bad');
  if (passwordProblems.length > 0) {
    const texts = passwordProblems.map(({ code, message }) => (code === 'too_short' ? outcome.dataset.short : message));
    return showProblem(texts.join(' '));
  }
  showOutcome(code === 'RATE_LIMITED' ? 'later' : 'failed');
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  outcome.textContent = '';
  showProblem('');
  fields.disabled = true;
  try {
    await reset(password.value);
  } catch {
    showOutcome('failed');
  }
  fields.disabled = false;
  if (!form.hidden) password.focus();
});

if (history.state?.isDone) finish('done', 'good');
else if (token) form.hidden = false;
else finish('invalid', 'bad');
`;

/** Serves `/hosted/reset-password`. */
export const registerResetPasswordPage = (app: FastifyInstance, settings: PageSettings): void =>
  servePage(app, { path: '/hosted/reset-password', page: (language) => page(language, settings), script });
