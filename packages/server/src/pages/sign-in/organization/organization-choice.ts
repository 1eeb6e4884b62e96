import { html } from '../../../html/html.ts';
import type { Language } from '../../../languages.ts';
import type { PageWithForm } from '../../page.ts';
import { appPage, hiddenField } from '../app-page.ts';
import { organizationTexts } from './organization-choice-texts.ts';
import type { PageState } from '../../../sign-in/page-state/page-state.ts';

/**
 * Makes the page on which users choose the organization for which they sign in (openid §12), with a button for each
 * organization.
 */
export function organizationPage(language: Language, state: PageState): PageWithForm {
  const { title, text, withoutOrganization, cancel, place } = organizationTexts[language];
  const choices = state.choices ?? { organizations: [], withoutOrganization: false };
  const button = (id: string, name: string, logoPath: string | null) =>
    html`<li>
      <button class="plain site" name="organization" value="${id}">
        ${logoPath !== null && html`<img src="${logoPath}" alt="" width="20" height="20" />`}<span
          ><bdi>${name}</bdi></span
        >
      </button>
    </li>`;
  const body = html`<p id="question">${text}</p>
    <form method="post" action="/api/auth/project/organization" aria-labelledby="question">
      ${hiddenField('form_token', state.formToken)}
      <ul class="links">
        ${choices.organizations.map(({ id, name, logoPath }) => button(id, name, logoPath))}
        ${choices.withoutOrganization && button('', withoutOrganization, null)}
      </ul>
    </form>
    <form method="post" action="/api/auth/project/consent/deny">
      ${hiddenField('consent_token', state.formToken)}
      <button class="quiet">${cancel}</button>
    </form>`;
  const showsLogo = choices.organizations.some(({ logoPath }) => logoPath !== null);
  return appPage({ language, state, title, body, place, images: showsLogo ? ["'self'"] : [] });
}
