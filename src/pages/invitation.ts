import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../events/mail-layout.ts';
import type { Language } from '../i18n/translate.ts';
import { invitationTexts } from './invitation-texts.ts';
import { hostedPage, servePage } from './page.ts';

/**
 * The page behind the link of an invitation, for installations without a frontend of their own. Opening it changes
 * nothing; it asks the API what the invitation says, and whoever is invited signs in or registers to accept it. Names in
 * it are chosen by strangers, so they only ever become text. The token is read from the address by the script and never
 * becomes part of the page.
 */
function page(language: Language): string {
  const { form, outcome, ...texts } = invitationTexts[language];
  const html = escapeHtml;
  const data = Object.entries(outcome).map(([name, text]) => `data-${name}="${html(text)}"`);
  const field = (id: string, label: string, attributes: string) =>
    `<label for="${id}">${html(label)}</label>
          <input id="${id}" aria-describedby="outcome" ${attributes}>`;
  const address = (id: string) => field(id, form.email, 'type="email" autocomplete="username" readonly');
  const body = `      <h1>${html(texts.title)}</h1>
      <p id="offer" data-text="${html(texts.offer)}">${html(texts.loading)}</p>
      <form id="register" method="post" hidden>
        <fieldset>
          <p>${html(form.toRegister)}</p>
          ${address('new-email')}
          ${field('name', form.name, 'autocomplete="name" maxlength="255" required')}
          ${field('new-password', form.newPassword, 'type="password" autocomplete="new-password" required')}
          <button type="submit">${html(form.register)}</button>
          <button type="button" class="quiet" id="has-account">${html(form.hasAccount)}</button>
        </fieldset>
      </form>
      <form id="sign-in" method="post" hidden>
        <fieldset>
          <p>${html(form.toSignIn)}</p>
          ${address('email')}
          ${field('password', form.password, 'type="password" autocomplete="current-password" required')}
          <button type="submit">${html(form.signIn)}</button>
        </fieldset>
      </form>
      <p id="outcome" role="status" ${data.join(' ')}></p>
      <noscript><p>${html(texts.noScript)}</p></noscript>`;
  return hostedPage({ language, title: texts.title, body, script: '/hosted/invitation.js' });
}

const script = `const at = (id) => document.getElementById(id);
const offer = at('offer');
const outcome = at('outcome');
const forms = [at('register'), at('sign-in')];
const token = new URLSearchParams(location.search).get('token') || '';
let invitation;

/** Holes of a text are filled in one pass, so that a name cannot bring a hole of its own. */
const fill = (text) => text.replace(/[{]([a-z]+)[}]/g, (hole, name) => invitation[name].name);
const say = (text, tone) => {
  outcome.textContent = text;
  outcome.className = tone;
};
const tell = (name, tone = 'bad') => say(fill(outcome.dataset[name]), tone);
const show = (id) => {
  for (const form of forms) form.hidden = form.id !== id;
};
const finish = (name, tone) => {
  show(null);
  offer.hidden = true;
  tell(name, tone);
};

async function ask(method, path, body, accessToken) {
  const response = await fetch('/api' + path, {
    method,
    credentials: 'omit',
    headers: {
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(accessToken ? { authorization: 'Bearer ' + accessToken } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { ok: response.ok, ...(await response.json()) };
}

/** What is over, and what can be mended and tried again. */
const endings = { NOT_FOUND: 'invalid', INVALID_TOKEN: 'expired', INVALID_STATE: 'closed' };
const hints = { UNAUTHENTICATED: 'wrong', EMAIL_VERIFICATION_REQUIRED: 'unverified', RATE_LIMITED: 'later' };

function refused({ code, details = [] }) {
  if (endings[code]) return finish(endings[code], 'bad');
  if (code === 'CONFLICT' && details.some(({ path }) => path === 'token')) return finish('member', 'good');
  if (code === 'CONFLICT') {
    show('sign-in');
    return tell('taken');
  }
  if (code === 'VALIDATION_ERROR' && details.length > 0) {
    return say(details.map(({ message }) => message).join(' '), 'bad');
  }
  return tell(hints[code] || 'failed');
}

async function accept(more, accessToken) {
  const answer = await ask('POST', '/organization-invitations/accept', { token, ...more }, accessToken);
  if (!answer.ok) return refused(answer);
  finish('done', 'good');
  // Used up, and so worth little in the history; gone all the same.
  history.replaceState(null, '', location.pathname);
  return answer.data.signIn?.accessToken;
}

/** This page has no use for the session that accepting took, and nobody else has its tokens. */
const leave = (accessToken) =>
  accessToken && ask('POST', '/auth/logout', {}, accessToken).catch(() => undefined);

const work = {
  register: async () => {
    const registration = { name: at('name').value, password: at('new-password').value };
    await leave(await accept({ registration }));
  },
  'sign-in': async () => {
    const providerData = { password: at('password').value };
    const signIn = await ask('POST', '/auth/login', {
      provider: 'email',
      providerId: invitation.email,
      providerData,
    });
    if (!signIn.ok) return refused(signIn);
    try {
      await accept({}, signIn.data.accessToken);
    } finally {
      await leave(signIn.data.accessToken);
    }
  },
};

for (const form of forms) {
  const fields = form.querySelector('fieldset');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    fields.disabled = true;
    outcome.textContent = '';
    try {
      await work[form.id]();
    } catch {
      tell('failed');
    }
    fields.disabled = false;
    forms.find(({ hidden }) => !hidden)?.querySelector('input[type=password]').focus();
  });
}
at('has-account').addEventListener('click', () => {
  outcome.textContent = '';
  show('sign-in');
  at('password').focus();
});

async function open() {
  if (!token) return finish('invalid', 'bad');
  const answer = await ask('GET', '/organization-invitations/' + encodeURIComponent(token));
  if (!answer.ok) return finish(answer.code === 'NOT_FOUND' ? 'invalid' : 'failed', 'bad');
  invitation = answer.data;
  if (invitation.status !== 'pending') return finish(invitation.status === 'expired' ? 'expired' : 'closed', 'bad');
  offer.textContent = fill(offer.dataset.text);
  for (const input of document.querySelectorAll('input[type=email]')) input.value = invitation.email;
  show(invitation.registered ? 'sign-in' : 'register');
}

open().catch(() => finish('failed', 'bad'));
`;

/** Serves `/hosted/invitation`. */
export const registerInvitationPage = (app: FastifyInstance): void =>
  servePage(app, { path: '/hosted/invitation', page, script });
