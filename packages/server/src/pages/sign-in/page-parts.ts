import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../languages.ts';
import { hiddenField } from './app-page.ts';
import { signInTexts } from './project-sign-in-texts.ts';
import type { PageState } from '../../sign-in/page-state/page-state.ts';

/** Makes the message about a failed attempt. Fields refer to it as their description. */
export const noticeParagraph = (text: string | Html): Html =>
  html`<p role="alert" id="notice" class="bad">${text}</p>`;

/** Makes the field for the code of an authenticator app. */
export const totpField = (label: string, isWrong: boolean): Html =>
  html`<label for="code">${label}</label>
    <input
      id="code"
      name="code"
      inputmode="numeric"
      autocomplete="one-time-code"
      maxlength="16"
      required
      autofocus
      ${isWrong && html`aria-describedby="notice" aria-invalid="true"`}
    />`;

/** Makes the form that cancels the sign-in, at any step; the app then gets no access. */
export const cancelForm = (language: Language, { formToken }: Pick<PageState, 'formToken'>): Html =>
  html`<form method="post" action="/api/auth/project/consent/deny">
    ${hiddenField('consent_token', formToken)}
    <button class="quiet">${signInTexts[language].cancel}</button>
  </form>`;
