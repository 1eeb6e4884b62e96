import type { FastifyInstance } from 'fastify';
import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../i18n/translate.ts';
import { outcomeParagraph } from './outcome.ts';
import { hostedPage, servePage } from '../page.ts';

interface Texts {
  readonly title: string;
  readonly ask: string;
  readonly password: string;
  readonly again: string;
  readonly button: string;
  readonly noScript: string;
  readonly outcome: {
    readonly done: string;
    readonly invalid: string;
    readonly differs: string;
    readonly later: string;
    readonly failed: string;
  };
}

const texts: Record<Language, Texts> = {
  en: {
    title: 'Choose a new password',
    ask: 'When you change the password, you are signed out on all devices.',
    password: 'New password',
    again: 'Repeat the new password',
    button: 'Change password',
    noScript: 'This page needs JavaScript. Turn it on and reload the page.',
    outcome: {
      done: 'Your password has been changed. You can close this page and sign in with the new password.',
      invalid: 'This link is not valid or has expired. Request a new one.',
      differs: 'The two passwords do not match.',
      later: 'Too many attempts. Please try again later.',
      failed: 'That did not work. Please try again in a moment.',
    },
  },
  de: {
    title: 'Neues Passwort wählen',
    ask: 'Wenn Sie das Passwort ändern, werden Sie auf allen Geräten abgemeldet.',
    password: 'Neues Passwort',
    again: 'Neues Passwort wiederholen',
    button: 'Passwort ändern',
    noScript: 'Diese Seite benötigt JavaScript. Schalten Sie es ein und laden Sie die Seite neu.',
    outcome: {
      done: 'Ihr Passwort wurde geändert. Sie können diese Seite schließen und sich mit dem neuen Passwort anmelden.',
      invalid: 'Dieser Link ist ungültig oder abgelaufen. Fordern Sie einen neuen an.',
      differs: 'Die beiden Passwörter stimmen nicht überein.',
      later: 'Zu viele Versuche. Bitte versuchen Sie es später noch einmal.',
      failed: 'Das hat nicht funktioniert. Bitte versuchen Sie es gleich noch einmal.',
    },
  },
  es: {
    title: 'Elija una contraseña nueva',
    ask: 'Al cambiar la contraseña se cerrará la sesión en todos sus dispositivos.',
    password: 'Contraseña nueva',
    again: 'Repita la contraseña nueva',
    button: 'Cambiar la contraseña',
    noScript: 'Esta página necesita JavaScript. Actívelo y vuelva a cargar la página.',
    outcome: {
      done: 'Su contraseña se ha cambiado. Puede cerrar esta página e iniciar sesión con la contraseña nueva.',
      invalid: 'Este enlace no es válido o ha caducado. Solicite uno nuevo.',
      differs: 'Las dos contraseñas no coinciden.',
      later: 'Demasiados intentos. Inténtelo más tarde.',
      failed: 'No ha funcionado. Inténtelo de nuevo en un momento.',
    },
  },
  fr: {
    title: 'Choisissez un nouveau mot de passe',
    ask: 'Si vous modifiez le mot de passe, vous serez déconnecté de tous vos appareils.',
    password: 'Nouveau mot de passe',
    again: 'Répétez le nouveau mot de passe',
    button: 'Modifier le mot de passe',
    noScript: 'Cette page nécessite JavaScript. Activez-le et rechargez la page.',
    outcome: {
      done: 'Votre mot de passe a été modifié. Vous pouvez fermer cette page et vous connecter avec le nouveau mot de passe.',
      invalid: 'Ce lien n’est pas valide ou a expiré. Demandez-en un nouveau.',
      differs: 'Les deux mots de passe ne sont pas identiques.',
      later: 'Trop de tentatives. Réessayez plus tard.',
      failed: 'Cela n’a pas fonctionné. Réessayez dans un instant.',
    },
  },
};

/**
 * The page to which a reset mail links, for installations without a frontend. Opening it changes nothing; the form posts
 * token and password to the API. Only the script reads the token from the address.
 */
function page(language: Language): Html {
  const { title, ask, password, again, button, noScript, outcome } = texts[language];
  const field = (id: string, label: string) =>
    html`<label for="${id}">${label}</label>
      <input id="${id}" aria-describedby="outcome" type="password" autocomplete="new-password" required />`;
  // Only the script shows the form: without the script a browser would post the password to this page.
  const body = html`<h1>${title}</h1>
    <form id="reset" method="post" hidden>
      <fieldset>
        <p>${ask}</p>
        ${field('password', password)} ${field('again', again)}
        <button type="submit">${button}</button>
      </fieldset>
    </form>
    ${outcomeParagraph(outcome)}
    <noscript><p>${noScript}</p></noscript>`;
  return hostedPage({ language, title, body, script: '/hosted/reset-password.js' });
}

const script = `const byId = (id) => document.getElementById(id);
const form = byId('reset');
const fields = form.querySelector('fieldset');
const outcome = byId('outcome');
const token = new URLSearchParams(location.search).get('token') || '';

const showText = (text, tone) => {
  outcome.textContent = text;
  outcome.className = tone;
};
const showOutcome = (name, tone = 'bad') => showText(outcome.dataset[name], tone);
const finish = (name, tone) => {
  form.hidden = true;
  showOutcome(name, tone);
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
    // The token is used up; it must not stay in the history all the same.
    history.replaceState(null, '', location.pathname);
    return;
  }
  const passwordProblems = details.filter(({ path }) => path === 'newPassword');
  if (code === 'INVALID_TOKEN' || details.some(({ path }) => path === 'token')) return finish('invalid', 'bad');
  if (passwordProblems.length > 0) return showText(passwordProblems.map(({ message }) => message).join(' '), 'bad');
  showOutcome(code === 'RATE_LIMITED' ? 'later' : 'failed');
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  outcome.textContent = '';
  if (byId('password').value !== byId('again').value) {
    showOutcome('differs');
    return byId('again').focus();
  }
  fields.disabled = true;
  try {
    await reset(byId('password').value);
  } catch {
    showOutcome('failed');
  }
  fields.disabled = false;
  if (!form.hidden) byId('password').focus();
});

if (token) form.hidden = false;
else finish('invalid', 'bad');
`;

/** Serves `/hosted/reset-password`. */
export const registerResetPasswordPage = (app: FastifyInstance): void =>
  servePage(app, { path: '/hosted/reset-password', page, script });
