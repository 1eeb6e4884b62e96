import { escapeHtml } from '../events/mail-layout.ts';
import type { Language } from '../i18n/translate.ts';
import { colourSheet } from './colour.ts';
import { hostedPage, type PageWithForm } from './page.ts';

/**
 * What the pages of a sign-in to an app have in common: they speak in the app's name, under our address. Name, colour and
 * pictures are chosen by whoever made the app; they become text, a file of ours, and nothing else.
 */
export interface BrandedApp {
  readonly name: string;
  readonly logoUrl: string | null;
  readonly homepageUrl: string | null;
  readonly primaryColor: string | null;
}

/** How far a sign-in has come, and what its page shows. */
export interface Standing {
  readonly app: BrandedApp;
  readonly redirectUri: string;
  readonly formToken: string;
  readonly step: 'signIn' | 'secondFactor' | 'consent';
  readonly providers: readonly ('email' | 'github')[];
  /** How the last try ended. */
  readonly notice:
    | null
    | 'mailed'
    | 'wrongCode'
    | 'providerFailed'
    | 'providerRefused'
    | 'addressInvalid'
    | 'emailNotVerified';
  readonly mailedTo: string | null;
  /** At the consent only. */
  readonly user: {
    readonly displayName: string;
    readonly email: string | null;
    readonly pictureUrl: string | null;
  } | null;
  /** Where the app was made; at the consent only. */
  readonly maker: { readonly project: string; readonly organization: string | null } | null;
  /** Null: all that the user may do. */
  readonly scopes:
    readonly { readonly scope: string; readonly name: string; readonly description: string | null }[] | null;
}

/**
 * A sentence as HTML with names in its holes, in one pass, so that a name cannot bring a hole of its own. A name written
 * from right to left does not turn the sentence around it.
 */
export const filled = (sentence: string, names: Readonly<Record<string, string>>): string =>
  escapeHtml(sentence).replace(
    /\{(\w+)\}/g,
    (_, hole: string) => `<bdi>${escapeHtml(names[hole] ?? '')}</bdi>`,
  );

export const field = (name: string, value: string): string =>
  `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`;

/** A page in the name of the app: `title` and `place` have holes, `body` is HTML. */
export function appPage(options: {
  readonly language: Language;
  readonly standing: Pick<Standing, 'app' | 'redirectUri'>;
  readonly title: string;
  readonly body: string;
  readonly place: string;
  readonly images?: readonly string[];
}): PageWithForm {
  const { language, title, body, standing, images = [] } = options;
  const { app, redirectUri } = standing;
  const logo = sourceOf(app.logoUrl);
  const place = filled(options.place, { place: placeOf(redirectUri) });
  return {
    html: hostedPage({
      language,
      title: title.includes('{app}') ? title.replace('{app}', () => app.name) : `${title} · ${app.name}`,
      brand: brand(app, logo !== undefined),
      style: app.primaryColor === null ? undefined : colourSheet(app.primaryColor),
      body: `      <h1>${filled(title, { app: app.name })}</h1>
${body}
      <p class="place">${place}</p>`,
    }),
    formAction: `'self' ${formTarget(redirectUri)}`,
    images: logo === undefined ? images : [...images, logo],
  };
}

function brand({ name, logoUrl }: BrandedApp, hasLogo: boolean): string {
  const [initial = ''] = name;
  const mark = hasLogo
    ? `<img class="logo" src="${escapeHtml(logoUrl ?? '')}" alt="" width="40" height="40" referrerpolicy="no-referrer">`
    : `<span class="mark" aria-hidden="true">${escapeHtml(initial.toUpperCase())}</span>`;
  return `<p class="brand">${mark}<bdi>${escapeHtml(name)}</bdi></p>`;
}

/** Hosts that a policy can name; others could say more in it than a host. */
const plainHost = /^[a-z0-9.-]+(:\d+)?$/;

/** The one origin that a picture comes from, if a policy can name it. */
function sourceOf(address: string | null): string | undefined {
  const { protocol, host } = address === null ? { protocol: '', host: '' } : new URL(address);
  return protocol === 'https:' && plainHost.test(host) ? `https://${host}` : undefined;
}

/**
 * Where a form may lead in the end. Chromium holds every redirect after a form against the policy, and the address of an
 * app may lead on to another of its hosts; so its scheme is all that can be said.
 */
const formTarget = (redirectUri: string): string => new URL(redirectUri).protocol;

/** What a person knows the app's address by: its host, or the scheme that is its own. */
export function placeOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return /^https?:$/.test(protocol) ? host : protocol.slice(0, -1);
}
