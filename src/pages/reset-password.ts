import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../events/mail-layout.ts';
import type { Language } from '../i18n/translate.ts';
import { hostedPage, servePage } from './page.ts';

/**
 * The page behind the link of a reset mail, for installations without a frontend of their own. Opening it changes
 * nothing; the form posts token and password to the API. The token is read from the address by the script and never
 * becomes part of the page.
 */
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
    ask: 'Afterwards all devices have to sign in again.',
    password: 'New password',
    again: 'New password, once more',
    button: 'Change the password',
    noScript: 'This page needs JavaScript.',
    outcome: {
      done: 'Your password is changed. Sign in with the new one; you can close this page.',
      invalid: 'This link is not valid or no longer valid. Ask for a new one.',
      differs: 'The two passwords are not the same.',
      later: 'Too many attempts. Please try again later.',
      failed: 'That did not work. Please try again in a moment.',
    },
  },
  de: {
    title: 'Neues Passwort wählen',
    ask: 'Danach müssen sich alle Geräte neu anmelden.',
    password: 'Neues Passwort',
    again: 'Neues Passwort, noch einmal',
    button: 'Passwort ändern',
    noScript: 'Diese Seite benötigt JavaScript.',
    outcome: {
      done: 'Ihr Passwort ist geändert. Melden Sie sich mit dem neuen an; Sie können diese Seite schließen.',
      invalid: 'Dieser Link ist ungültig oder nicht mehr gültig. Fordern Sie einen neuen an.',
      differs: 'Die beiden Passwörter stimmen nicht überein.',
      later: 'Zu viele Versuche. Bitte versuchen Sie es später noch einmal.',
      failed: 'Das hat nicht funktioniert. Bitte versuchen Sie es gleich noch einmal.',
    },
  },
  es: {
    title: 'Elija una contraseña nueva',
    ask: 'Después, todos los dispositivos deben iniciar sesión de nuevo.',
    password: 'Contraseña nueva',
    again: 'Contraseña nueva, otra vez',
    button: 'Cambiar la contraseña',
    noScript: 'Esta página necesita JavaScript.',
    outcome: {
      done: 'Su contraseña ha cambiado. Inicie sesión con la nueva; puede cerrar esta página.',
      invalid: 'Este enlace no es válido o ya no lo es. Solicite uno nuevo.',
      differs: 'Las dos contraseñas no coinciden.',
      later: 'Demasiados intentos. Inténtelo más tarde.',
      failed: 'No ha funcionado. Inténtelo de nuevo en un momento.',
    },
  },
  fr: {
    title: 'Choisissez un nouveau mot de passe',
    ask: 'Ensuite, tous les appareils devront se reconnecter.',
    password: 'Nouveau mot de passe',
    again: 'Nouveau mot de passe, encore une fois',
    button: 'Modifier le mot de passe',
    noScript: 'Cette page nécessite JavaScript.',
    outcome: {
      done: 'Votre mot de passe est modifié. Connectez-vous avec le nouveau ; vous pouvez fermer cette page.',
      invalid: "Ce lien n'est pas valide ou ne l'est plus. Demandez-en un nouveau.",
      differs: 'Les deux mots de passe ne sont pas identiques.',
      later: 'Trop de tentatives. Réessayez plus tard.',
      failed: "Cela n'a pas fonctionné. Réessayez dans un instant.",
    },
  },
};

function page(language: Language): string {
  const { title, ask, password, again, button, noScript, outcome } = texts[language];
  const html = escapeHtml;
  const data = Object.entries(outcome).map(([name, text]) => `data-${name}="${html(text)}"`);
  const field = (id: string, label: string) =>
    `<label for="${id}">${html(label)}</label>
          <input id="${id}" aria-describedby="outcome" type="password" autocomplete="new-password" required>`;
  // Without the script the form could only send the password to an address, so it is shown by the script.
  const body = `      <h1>${html(title)}</h1>
      <form id="reset" method="post" hidden>
        <fieldset>
          <p>${html(ask)}</p>
          ${field('password', password)}
          ${field('again', again)}
          <button type="submit">${html(button)}</button>
        </fieldset>
      </form>
      <p id="outcome" role="status" ${data.join(' ')}></p>
      <noscript><p>${html(noScript)}</p></noscript>`;
  return hostedPage({ language, title, body, script: '/hosted/reset-password.js' });
}

const script = `const at = (id) => document.getElementById(id);
const form = at('reset');
const fields = form.querySelector('fieldset');
const outcome = at('outcome');
const token = new URLSearchParams(location.search).get('token') || '';

const say = (text, tone) => {
  outcome.textContent = text;
  outcome.className = tone;
};
const tell = (name, tone = 'bad') => say(outcome.dataset[name], tone);
const finish = (name, tone) => {
  form.hidden = true;
  tell(name, tone);
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
    // Used up, and so worth nothing in the history; gone all the same.
    history.replaceState(null, '', location.pathname);
    return;
  }
  const ofPassword = details.filter(({ path }) => path === 'newPassword');
  if (code === 'INVALID_TOKEN' || details.some(({ path }) => path === 'token')) return finish('invalid', 'bad');
  if (ofPassword.length > 0) return say(ofPassword.map(({ message }) => message).join(' '), 'bad');
  tell(code === 'RATE_LIMITED' ? 'later' : 'failed');
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  outcome.textContent = '';
  if (at('password').value !== at('again').value) {
    tell('differs');
    return at('again').focus();
  }
  fields.disabled = true;
  try {
    await reset(at('password').value);
  } catch {
    tell('failed');
  }
  fields.disabled = false;
  if (!form.hidden) at('password').focus();
});

if (token) form.hidden = false;
else finish('invalid', 'bad');
`;

/** Serves `/hosted/reset-password`. */
export const registerResetPasswordPage = (app: FastifyInstance): void =>
  servePage(app, { path: '/hosted/reset-password', page, script });
