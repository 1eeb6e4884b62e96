import { randomBytes } from 'node:crypto';
import { fillSentence } from '../../../html/fill-sentence.ts';
import { html, type Html } from '../../../html/html.ts';
import type { Language } from '../../../languages.ts';
import { hostedPage, type Page, type PageWithForm } from '../../page.ts';
import { appPage, hiddenField } from '../app-page.ts';
import { cancelForm } from '../page-parts.ts';
import { signInTexts } from '../project-sign-in-texts.ts';
import { companyTexts } from './company-texts.ts';
import { connectionTexts } from './connection-texts.ts';
import { formAddress, scriptPath } from './form-address.ts';
import { field, passwordField, passwordRule, problemAt } from './form-parts.ts';
import { methodTexts } from './method-texts.ts';
import { noticeTexts } from './notice-texts.ts';
import type { LinkState, PageState } from '../../../sign-in/page-state/page-state.ts';

/** Makes the page after a mail was sent: it asks for the code and, for a reset, for the new password. */
export function mailedCodePage(language: Language, state: PageState, address: string): PageWithForm {
  const { code, reset } = methodTexts[language];
  const notices = noticeTexts[language];
  const { notice, formToken, signIn } = state;
  const isReset = signIn.form === 'reset';
  const isWrong = notice === 'wrongMailedCode' || notice === 'mailedCodeEnded';
  const codeField = field({
    name: 'code',
    label: code.code,
    attributes: html`inputmode="numeric" autocomplete="one-time-code" maxlength="16" autofocus`,
    hint: code.hint,
    problem: isWrong ? notices[notice] : undefined,
  });
  const newPassword =
    isReset &&
    html`${newPasswordField(language, signIn.passwordMinLength, problemAt(language, state, 'newPassword'))}
      <p class="hint">${reset.ends}</p>`;
  // If the code connects an account at a provider, the text depends on whose provider it is.
  const connectingText = signIn.connection ? companyTexts[language].connects : connectionTexts[language];
  const sentence = signIn.connects ? connectingText : code.text;
  const names = { address, provider: state.provider ?? '' };
  const body = html`<p role="status">${fillSentence(sentence, names)}</p>
    <form method="post" action="${isReset ? '/api/auth/flow/reset' : '/api/auth/flow/email/code'}">
      ${hiddenField('form_token', formToken)} ${codeField} ${newPassword}
      <button>${isReset ? reset.save : code.button}</button>
    </form>
    <p class="other">${code.again}</p>
    ${sendAgain(language, state, address)} ${cancelForm(language, state)}`;
  const title = isReset ? reset.title : code.title;
  const script = isReset ? { script: scriptPath } : {};
  return appPage({ language, state, title, body, place: signInTexts[language].place, ...script });
}

/** A value that is new on each page, so that a request for another mail is not taken for a form that was sent twice. */
const newAttempt = (): string => randomBytes(32).toString('base64url');

/** Links to get another mail. A sign-up starts over with its form, because the page does not keep what was entered. */
function sendAgain(language: Language, { formToken, signIn, providers }: PageState, address: string): Html {
  const { code } = methodTexts[language];
  const isReset = signIn.form === 'reset';
  const mayResend = signIn.form !== 'signUp' && !signIn.connects && (isReset || providers.includes('email'));
  const action = isReset ? '/api/auth/flow/reset/request' : '/api/auth/project/email/request';
  return html`${
      mayResend &&
      html`<form method="post" action="${action}">
        ${hiddenField('form_token', formToken)} ${hiddenField('attempt', newAttempt())}
        ${hiddenField('email', address)}
        <button class="plain">${code.sendAgain}</button>
      </form>`
    }
    <p class="other">
      <a href="${formAddress(signIn.form === 'signUp' ? 'sign-up' : 'address', formToken)}"
        >${code.startOver}</a
      >
    </p>`;
}

const newPasswordField = (language: Language, minLength: number, problem?: string): Html =>
  passwordField(language, {
    name: 'newPassword',
    label: methodTexts[language].reset.newPassword,
    autocomplete: 'new-password',
    minLength,
    hint: passwordRule(language, minLength),
    problem,
  });

/**
 * The page of a mailed link. Opening it changes nothing, because mail scanners open every link; the button continues.
 * `onward`: the link that the page shows if the mailed link is no longer valid.
 */
export function linkPage(language: Language, link: LinkState, onward: Html | null): Page {
  const { link: texts, title, reset } = methodTexts[language];
  const { place } = signInTexts[language];
  if (link.state === 'ready' && link.reset) {
    const body = html`<form method="post" action="/api/auth/flow/reset">
      ${hiddenField('form_token', link.reset.formToken)} ${hiddenField('code', link.reset.code)}
      ${newPasswordField(language, link.reset.minLength)}
      <p class="hint">${reset.ends}</p>
      <button>${reset.save}</button>
    </form>`;
    return appPage({ language, state: link, title: reset.title, body, place, script: scriptPath });
  }
  if (link.state === 'ready') {
    const body = html`<p>${texts.text}</p>
      <form method="post" action="/api/auth/project/email/consume">
        ${hiddenField('token', link.token)}
        <button>${texts.button}</button>
      </form>`;
    return appPage({ language, state: link, title, body, place });
  }
  if (link.state === 'otherBrowser') {
    const other = texts.otherBrowser;
    const body = html`<h1>${other.title}</h1>
      <p class="code">${link.code.slice(0, 3)} ${link.code.slice(3)}</p>
      <p>${other.text}</p>
      <p role="status" class="bad">${other.warning}</p>`;
    return hostedPage({ language, title: other.title, body });
  }
  const body = html`<h1>${texts.invalid.title}</h1>
    <p role="status" class="bad">${texts.invalid.text}</p>
    ${onward}`;
  return hostedPage({ language, title: texts.invalid.title, body });
}
