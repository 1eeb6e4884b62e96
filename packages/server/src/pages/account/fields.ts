import { html, type Html } from '../../html/html.ts';
import { hiddenField } from '../sign-in/app-page.ts';
import { accountForm, type View } from './account-page.ts';
import type { Section } from './account-texts.ts';

/** A text field with its label, and its problem below. `name` identifies it in the form, `id` on the page. */
export function textField(options: {
  readonly id: string;
  readonly name?: string;
  readonly label: string;
  readonly value?: string;
  readonly problem?: string | undefined;
  readonly hint?: string | undefined;
  readonly attributes?: Html;
  readonly isOptional?: true;
}): Html {
  const { id, name = id, label, value = '', problem, hint, attributes, isOptional } = options;
  const parts = [problem !== undefined && `${id}-problem`, hint !== undefined && `${id}-hint`];
  const described = parts.filter((part) => part !== false).join(' ');
  return html`<label for="${id}">${label}</label>
    <input
      id="${id}"
      name="${name}"
      ${value !== '' && html`value="${value}"`}
      ${!isOptional && html`required`}
      ${attributes}
      ${described !== '' && html`aria-describedby="${described}"`}
      ${problem !== undefined && html`aria-invalid="true"`}
    />
    ${problem !== undefined && html`<p role="alert" id="${id}-problem" class="bad hint">${problem}</p>`}
    ${hint !== undefined && html`<p id="${id}-hint" class="hint">${hint}</p>`}`;
}

/** Makes a row of a list with a form that acts on its item. */
export const row = (
  view: View,
  options: {
    readonly section: Section;
    readonly id: string;
    readonly title: string;
    readonly lines: readonly (Html | string)[];
    readonly form?: { readonly name: string; readonly button: string; readonly label: string } | undefined;
    readonly more?: Html | undefined;
  },
): Html =>
  html`<li>
    <div><strong>${options.title}</strong>${options.lines.map((line) => html`<small>${line}</small>`)}</div>
    ${
      options.form &&
      accountForm(view, {
        ...options.form,
        section: options.section,
        isQuiet: true,
        fields: hiddenField('id', options.id),
      })
    }
    ${options.more}
  </li>`;
