import { html, type Html } from '../../html/html.ts';
import type { AccountCaller } from '../../http/account/account-calls.ts';
import type { Language } from '../../i18n/translate.ts';
import { hiddenField } from '../sign-in/app-page.ts';
import { field } from '../sign-in/methods/form-parts.ts';
import { pathOf } from './account-page.ts';
import { accountTexts, type Section } from './account-texts.ts';

/** The question whether it is still the user (step-up), in place of the page that needs it. */
export function confirmationBody(
  language: Language,
  caller: AccountCaller,
  options: { readonly section: Section; readonly isEnrolled: boolean; readonly isWrong: boolean },
): Html {
  const { confirmation: texts } = accountTexts[language];
  const { section, isEnrolled, isWrong } = options;
  const hidden = html`${hiddenField('form_token', caller.formToken)} ${hiddenField('section', section)}`;
  const codeForm = html`<form method="post" action="/account/confirm">
    ${hidden}
    ${field({
      name: 'code',
      label: texts.code,
      problem: isWrong ? texts.wrong : undefined,
      attributes: html`autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="32"`,
    })}
    <button>${texts.button}</button>
  </form>`;
  return html`<p>${texts.text}</p>
    ${isEnrolled && codeForm}
    <form class="after" method="post" action="/account/sign-out">
      ${hidden}
      <p>${texts.againText}</p>
      <button class="${isEnrolled ? 'plain' : ''}">${texts.again}</button>
    </form>`;
}

/** The section that a form names; any other text leads to the first page. */
export const sectionOf = (named: string | undefined): Section => {
  const sections = Object.keys(accountTexts.en.sections) as Section[];
  return sections.find((section) => section === named) ?? 'profile';
};

/** The path of the section that a form names. */
export const namedPath = (named: string | undefined): string => pathOf(sectionOf(named));
