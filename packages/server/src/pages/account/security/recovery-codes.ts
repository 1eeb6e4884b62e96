import { html, type Html } from '../../../html/html.ts';
import { enrolmentTexts } from '../../sign-in/enrolment/enrolment-texts.ts';
import { accountForm, FieldProblem, type Form, type Outcome, type View } from '../account-page.ts';
import type { Section } from '../account-texts.ts';

/** Shows the recovery codes once. The user confirms that they have stored them. */
export function recoveryCodesBody(view: View, section: Section, codes: readonly string[]): Html {
  const texts = enrolmentTexts[view.language];
  const fields = html`<label class="check">
    <input type="checkbox" name="kept" value="yes" required />
    <span>${texts.kept}</span>
  </label>`;
  return html`<h2>${texts.codesTitle}</h2>
    <p>${texts.codesText}</p>
    <ul class="codes" aria-label="${texts.codes}">
      ${codes.map((code) => html`<li><code>${code.replace(/^.{5}/, '$&-')}</code></li>`)}
    </ul>
    ${accountForm(view, { name: 'kept', section, button: texts.next, fields })}`;
}

/** Handles the form below the codes. Users who skip the form can make new codes later. */
export function keepCodes({ kept }: Form, { language }: View): Promise<Outcome> {
  if (kept === 'yes') return Promise.resolve('saved');
  return Promise.reject(new FieldProblem('', enrolmentTexts[language].notKept));
}
