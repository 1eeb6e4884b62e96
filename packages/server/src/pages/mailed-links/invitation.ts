import type { FastifyInstance } from 'fastify';
import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../languages.ts';
import { invitationTexts } from './invitation-texts.ts';
import { onward, outcomeParagraph } from './outcome.ts';
import { hostedPage, servePage } from '../page.ts';
import type { PageSettings } from '../page-settings.ts';
import { acceptancePath } from './invitation-acceptance.ts';

function page(language: Language, { home }: PageSettings): Html {
  const { form, outcome, title, offer, loading, goOn, noScript } = invitationTexts[language];
  const field = (id: string, label: string, input: Html) => html`<label for="${id}">${label}</label>${input}`;
  const address = (id: string) =>
    field(
      id,
      form.email,
      html`<input id="${id}" aria-describedby="outcome" type="email" autocomplete="username" readonly />`,
    );
  const name = html`<input
    id="name"
    aria-describedby="outcome"
    autocomplete="name"
    maxlength="255"
    required
  />`;
  const password = (id: string, autocomplete: string) =>
    html`<input
      id="${id}"
      aria-describedby="outcome"
      type="password"
      autocomplete="${autocomplete}"
      required
    />`;
  const body = html`<h1>${title}</h1>
    <p id="offer" data-text="${offer}">${loading}</p>
    <form id="register" method="post" hidden>
      <fieldset>
        <p>${form.toRegister}</p>
        ${address('new-email')} ${field('name', form.name, name)}
        ${field('new-password', form.newPassword, password('new-password', 'new-password'))}
        <button type="submit">${form.register}</button>
        <button type="button" class="quiet" id="has-account">${form.hasAccount}</button>
      </fieldset>
    </form>
    <form id="sign-in" method="post" hidden>
      <fieldset>
        <p>${form.toSignIn}</p>
        ${address('email')} ${field('password', form.password, password('password', 'current-password'))}
        <button type="submit">${form.signIn}</button>
        <p class="other"><a id="other-way" href="${acceptancePath}">${form.otherWay}</a></p>
      </fieldset>
    </form>
    ${outcomeParagraph(outcome)} ${onward(home, goOn)}
    <noscript><p>${noScript}</p></noscript>`;
  return hostedPage({ language, title, body, script: '/hosted/invitation.js' });
}

const script = `const byId = (id) => document.getElementById(id);
const offer = byId('offer');
const outcome = byId('outcome');
const forms = [byId('register'), byId('sign-in')];
const token = new URLSearchParams(location.search).get('token') || '';
let invitation;

// Fills all placeholders of a text in one pass, so that a name cannot contain a placeholder itself.
const fill = (text) => text.replace(/[{]([a-z]+)[}]/g, (_, name) => invitation[name].name);
const showText = (text, tone) => {
  outcome.textContent = text;
  outcome.className = tone;
};
const showOutcome = (name, tone = 'bad') => showText(fill(outcome.dataset[name]), tone);
const showForm = (id) => {
  for (const form of forms) form.hidden = form.id !== id;
};
const finish = (name, tone) => {
  showForm(null);
  offer.hidden = true;
  showOutcome(name, tone);
  byId('onward').hidden = false;
};

async function callApi(method, path, body, accessToken) {
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

// After a final outcome the invitation cannot be accepted; after the others the person can try again.
const finalOutcomes = { NOT_FOUND: 'invalid', INVALID_TOKEN: 'expired', INVALID_STATE: 'closed' };
const retryOutcomes = { UNAUTHENTICATED: 'wrong', EMAIL_VERIFICATION_REQUIRED: 'unverified', RATE_LIMITED: 'later' };

function showFailure({ code, details = [] }) {
  if (finalOutcomes[code]) return finish(finalOutcomes[code], 'bad');
  if (code === 'CONFLICT' && details.some(({ path }) => path === 'token')) return finish('member', 'good');
  if (code === 'CONFLICT') {
    showForm('sign-in');
    return showOutcome('taken');
  }
  if (code === 'VALIDATION_ERROR' && details.length > 0) {
    return showText(details.map(({ message }) => message).join(' '), 'bad');
  }
  return showOutcome(retryOutcomes[code] || 'failed');
}

async function accept(input, accessToken) {
  const answer = await callApi('POST', '/organization-invitations/accept', { token, ...input }, accessToken);
  if (!answer.ok) return showFailure(answer);
  finish('done', 'good');
  // The token is used up, but it must not stay in the history. The outcome does, for people who come back.
  history.replaceState({ accepted: invitation }, '', location.pathname);
  return answer.data.signIn?.accessToken;
}

// Ends the session that was only needed to accept: this page does not use it.
const signOut = (accessToken) =>
  accessToken && callApi('POST', '/auth/logout', {}, accessToken).catch(() => undefined);

const submitters = {
  register: async () => {
    const registration = { name: byId('name').value, password: byId('new-password').value };
    await signOut(await accept({ registration }));
  },
  'sign-in': async () => {
    const providerData = { password: byId('password').value };
    const signIn = await callApi('POST', '/auth/login', {
      provider: 'email',
      providerId: invitation.email,
      providerData,
    });
    if (!signIn.ok) return showFailure(signIn);
    try {
      await accept({}, signIn.data.accessToken);
    } finally {
      await signOut(signIn.data.accessToken);
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
      await submitters[form.id]();
    } catch {
      showOutcome('failed');
    }
    fields.disabled = false;
    forms.find(({ hidden }) => !hidden)?.querySelector('input[type=password]').focus();
  });
}
byId('has-account').addEventListener('click', () => {
  outcome.textContent = '';
  showForm('sign-in');
  byId('password').focus();
});

async function open() {
  if (history.state?.accepted) {
    invitation = history.state.accepted;
    return finish('done', 'good');
  }
  if (!token) return finish('invalid', 'bad');
  const answer = await callApi('GET', '/organization-invitations/' + encodeURIComponent(token));
  if (!answer.ok) return finish(answer.code === 'NOT_FOUND' ? 'invalid' : 'failed', 'bad');
  invitation = answer.data;
  if (invitation.status !== 'pending') return finish(invitation.status === 'expired' ? 'expired' : 'closed', 'bad');
  offer.textContent = fill(offer.dataset.text);
  for (const input of document.querySelectorAll('input[type=email]')) input.value = invitation.email;
  byId('other-way').search = new URLSearchParams({ token, login_hint: invitation.email });
  showForm(invitation.registered ? 'sign-in' : 'register');
}

open().catch(() => finish('failed', 'bad'));
`;

/**
 * Serves `/hosted/invitation`, the page to which the mail of an invitation links, for installations without a frontend.
 * Opening it changes nothing: its script reads the invitation from the API, and the invited person signs in or
 * registers to accept it. Strangers choose the names in an invitation, so the script writes them as text only. Only the
 * script reads the token from the address.
 */
export const registerInvitationPage = (app: FastifyInstance, settings: PageSettings): void =>
  servePage(app, { path: '/hosted/invitation', page: (language) => page(language, settings), script });
