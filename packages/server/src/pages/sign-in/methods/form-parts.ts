import { html, type Html } from '../../../html/html.ts';
import { translateDetail } from '../../../i18n/translate.ts';
import type { Language } from '../../../languages.ts';
import { methodTexts } from './method-texts.ts';
import { noticeTexts } from './notice-texts.ts';
import type { PageState } from '../../../sign-in/page-state/page-state.ts';

/* Fields and error messages that make up the forms of the first page. */

interface Field {
  readonly name: string;
  readonly label: string;
  readonly attributes: Html;
  /** What is wrong with the value; shown at the field. */
  readonly problem?: string | undefined;
  readonly hint?: string | undefined;
}

/** Makes a field with its label, and below it the message about an invalid value and the hint. */
export function field({ name, label, attributes, problem, hint }: Field): Html {
  const parts = [problem !== undefined && `${name}-problem`, hint !== undefined && `${name}-hint`];
  const described = parts.filter((part) => part !== false).join(' ');
  return html`<label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      ${attributes}
      required
      ${described !== '' && html`aria-describedby="${described}"`}
      ${problem !== undefined && html`aria-invalid="true"`}
    />
    ${problem !== undefined && html`<p role="alert" id="${name}-problem" class="bad hint">${problem}</p>`}
    ${hint !== undefined && html`<p id="${name}-hint" class="hint">${hint}</p>`}`;
}

/** A password field with a button that shows what was typed; the button appears only if scripts run. */
export function passwordField(
  language: Language,
  options: Omit<Field, 'attributes'> & {
    readonly autocomplete: 'current-password' | 'current-password webauthn' | 'new-password';
    readonly minLength?: number;
    readonly isFirst?: boolean;
  },
): Html {
  const { show, hide } = methodTexts[language];
  const { autocomplete, minLength, isFirst = false, ...rest } = options;
  const attributes = html`type="password" autocomplete="${autocomplete}" maxlength="128"
  ${minLength !== undefined && html`minlength="${minLength}"`} ${isFirst && html`autofocus`}`;
  return html`${field({ ...rest, attributes })}
    <button type="button" class="quiet show" data-for="${rest.name}" data-hide="${hide}" hidden>
      ${show}
    </button>`;
}

/** The script of the buttons that show and hide passwords. */
export const showPasswordScript = `for (const button of document.querySelectorAll('button.show')) {
  const input = document.getElementById(button.dataset.for);
  const show = button.textContent;
  button.hidden = false;
  button.setAttribute('aria-pressed', 'false');
  button.addEventListener('click', () => {
    const isShown = input.type === 'text';
    input.type = isShown ? 'password' : 'text';
    button.textContent = isShown ? show : button.dataset.hide;
    button.setAttribute('aria-pressed', String(!isShown));
  });
}
`;

/** Makes the field for an e-mail address. */
export const emailField = (
  language: Language,
  options: {
    readonly value: string;
    readonly isInvalid: boolean;
    readonly hint?: string | undefined;
    readonly isFirst?: boolean;
    readonly autocomplete?: 'email' | 'username' | 'username webauthn';
  },
): Html => {
  const texts = methodTexts[language];
  return field({
    name: 'email',
    label: texts.address,
    problem: options.isInvalid ? noticeTexts[language].addressInvalid : undefined,
    hint: options.hint,
    attributes: html`type="email" autocomplete="${options.autocomplete ?? 'email'}" maxlength="320"
    value="${options.value}" ${options.isFirst !== false && html`autofocus`}`,
  });
};

/** Returns the message about an invalid field, in the words of the API; undefined if the field is valid. */
export function problemAt(language: Language, { signIn }: PageState, path: string): string | undefined {
  const codes = signIn.problems.filter((problem) => problem.path === path).map(({ code }) => code);
  const texts = codes.map((code) => {
    const tooShort = methodTexts[language].tooShort.replace('{length}', String(signIn.passwordMinLength));
    return code === 'too_short' ? tooShort : translateDetail(language, code);
  });
  return texts.length === 0 ? undefined : texts.join(' ');
}

/** Returns the rule that a new password must meet. */
export const passwordRule = (language: Language, minLength: number): string =>
  methodTexts[language].passwordRule.replace('{length}', String(minLength));
