import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../languages.ts';
import type { PageState } from '../../sign-in/page-state/page-state.ts';
import { colourSheet } from '../colour.ts';
import { fillSentence } from '../../html/fill-sentence.ts';
import { hostedPage, type PageWithForm } from '../page.ts';

/** Makes a hidden field of a form. */
export const hiddenField = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

/**
 * A page with the name, logo and color of the app. The people who made the app choose these values, so they are used
 * only as text, as the source of a picture, and in the address of a style sheet of this service. `title` and `place`
 * are sentences with placeholders.
 */
export function appPage(options: {
  readonly language: Language;
  readonly state: Pick<PageState, 'app' | 'redirectUri'>;
  readonly title: string;
  readonly body: Html;
  readonly place: string;
  readonly images?: readonly string[];
  readonly script?: string;
}): PageWithForm {
  const { language, title, state, images = [] } = options;
  const { app, redirectUri } = state;
  const logo = app.logoPath === null ? imageSourceOf(app.logoUrl) : "'self'";
  return {
    html: hostedPage({
      language,
      ...(options.script !== undefined && { script: options.script }),
      title: title.includes('{app}') ? title.replace('{app}', () => app.name) : `${title} · ${app.name}`,
      site: null,
      brand: brand(app, logo !== undefined),
      style: app.primaryColor === null ? undefined : colourSheet(app.primaryColor),
      body: html`<h1>${fillSentence(title, { app: app.name })}</h1>
        ${options.body}
        <p class="place">${fillSentence(options.place, { app: app.name, place: placeOf(redirectUri) })}</p>`,
    }),
    language,
    formAction: `'self' ${formTarget(redirectUri)}`,
    script: options.script !== undefined,
    images: logo === undefined || images.includes(logo) ? images : [...images, logo],
  };
}

function brand({ name, logoUrl, logoPath }: PageState['app'], hasLogo: boolean): Html {
  const [initial = ''] = name;
  const mark = hasLogo
    ? html`<img
        class="logo"
        src="${logoPath ?? logoUrl}"
        alt=""
        width="40"
        height="40"
        referrerpolicy="no-referrer"
      />`
    : html`<span class="mark" aria-hidden="true">${initial.toUpperCase()}</span>`;
  return html`<p class="brand">${mark}<bdi>${name}</bdi></p>`;
}

/** Matches hosts that may appear in a policy. Any other character could add a directive to the policy. */
const plainHost = /^[a-z0-9.-]+(:\d+)?$/;

/** Returns the origin from which a picture is loaded; undefined if a policy cannot name it. */
function imageSourceOf(address: string | null): string | undefined {
  const { protocol, host } = address === null ? { protocol: '', host: '' } : new URL(address);
  return protocol === 'https:' && plainHost.test(host) ? `https://${host}` : undefined;
}

/**
 * The source that `form-action` allows besides this service. Chromium compares every redirect after a form with the
 * policy, and an app may redirect from its registered address to another host, so only the scheme can be limited.
 */
const formTarget = (redirectUri: string): string => new URL(redirectUri).protocol;

/** Returns the part of the app's address that people recognize: its host, or its scheme if that belongs to the app. */
export function placeOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return /^https?:$/.test(protocol) ? host : protocol.slice(0, -1);
}
