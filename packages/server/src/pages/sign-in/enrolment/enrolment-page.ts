import { html, type Html } from '../../../html/html.ts';
import { qrPath } from '../../../html/qr-code.ts';
import type { Language } from '../../../languages.ts';
import type { PageWithForm } from '../../page.ts';
import { appPage, hiddenField } from '../app-page.ts';
import { cancelForm, noticeParagraph, totpField } from '../page-parts.ts';
import { enrolmentTexts } from './enrolment-texts.ts';
import type { PageState } from '../../../sign-in/page-state/page-state.ts';

/** Makes the pages on which a user adds an authenticator app and stores the recovery codes (openid §3). */
export function enrolmentPage(language: Language, state: PageState): PageWithForm {
  const texts = enrolmentTexts[language];
  const { enrolment } = state;
  const areCodes = enrolment !== null && 'recoveryCodes' in enrolment;
  const body = areCodes ? codesBody(language, state, enrolment.recoveryCodes) : appBody(language, state);
  return appPage({
    language,
    state,
    title: areCodes ? texts.codesTitle : texts.title,
    body,
    place: texts.place,
  });
}

function appBody(language: Language, state: PageState): Html {
  const texts = enrolmentTexts[language];
  const { enrolment, formToken } = state;
  const { secret, otpauthUrl } =
    enrolment && 'secret' in enrolment ? enrolment : { secret: '', otpauthUrl: '' };
  const isWrong = state.notice === 'wrongCode';
  return html`<p>${texts.text}</p>
    <p>${texts.scan}</p>
    ${picture(otpauthUrl, texts.picture)}
    <details>
      <summary>${texts.byHand}</summary>
      <p>${texts.secretHint}</p>
      <p><code class="secret">${secret.match(/.{1,4}/g)?.join(' ') ?? ''}</code></p>
      <p><a href="${otpauthUrl}">${texts.open}</a></p>
    </details>
    ${isWrong && noticeParagraph(texts.wrong)}
    <form method="post" action="/api/auth/project/enrolment" class="after">
      ${hiddenField('form_token', formToken)} ${totpField(texts.code, isWrong)}
      <button>${texts.add}</button>
    </form>
    ${cancelForm(language, state)}`;
}

/** The QR code of a text: dark on light in every color scheme, because scanners expect that. */
function picture(text: string, label: string): Html | null {
  const code = qrPath(text);
  return (
    code &&
    html`<svg class="qr" viewBox="0 0 ${code.size} ${code.size}" role="img" aria-label="${label}">
      <rect width="${code.size}" height="${code.size}" fill="#fff" />
      <path d="${code.path}" fill="#000" shape-rendering="crispEdges" />
    </svg>`
  );
}

function codesBody(language: Language, state: PageState, codes: readonly string[]): Html {
  const texts = enrolmentTexts[language];
  const isMissing = state.notice === 'codesNotKept';
  return html`<p>${texts.codesText}</p>
    <ul class="codes" aria-label="${texts.codes}">
      ${codes.map((code) => html`<li><code>${code.replace(/^.{5}/, '$&-')}</code></li>`)}
    </ul>
    ${isMissing && noticeParagraph(texts.notKept)}
    <form method="post" action="/api/auth/project/enrolment/confirm">
      ${hiddenField('form_token', state.formToken)}
      <label class="check">
        <input
          type="checkbox"
          name="kept"
          value="yes"
          required
          ${isMissing && html`aria-describedby="notice" aria-invalid="true"`}
        />
        <span>${texts.kept}</span>
      </label>
      <button>${texts.next}</button>
    </form>
    ${cancelForm(language, state)}`;
}
