import type { DetailCode } from '../../errors.ts';
import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../languages.ts';
import { colourSheet } from '../colour.ts';
import { fillSentence } from '../../html/fill-sentence.ts';
import type { ShownDevice } from '../device/device-page.ts';
import { hostedPage, type PageWithForm } from '../page.ts';

/**
 * What the pages of a project sign-in show of the app. The people who made the app choose these values, so they only
 * become text, the source of a picture, and the address of a style sheet of this service.
 */
export interface BrandedApp {
  readonly name: string;
  readonly logoUrl: string | null;
  readonly homepageUrl: string | null;
  readonly primaryColor: string | null;
  /** The path of a logo that this service serves. */
  readonly logoPath: string | null;
  /** Text of the first page, by language. */
  readonly intro: Readonly<Partial<Record<Language, string>>>;
}

/** The step that a project sign-in has reached, and what its page shows. */
export interface PageState {
  readonly app: BrandedApp;
  readonly redirectUri: string;
  readonly formToken: string;
  readonly step: 'signIn' | 'secondFactor' | 'enrolment' | 'organization' | 'consent' | 'respond';
  readonly providers: readonly ('email' | 'password' | 'passkey' | 'github')[];
  /** The sites through which people can sign in. */
  readonly identityProviders: readonly {
    readonly key: string;
    readonly name: string;
    readonly logoUrl: string | null;
  }[];
  /** The name of the site to which the person went last. */
  readonly provider: string | null;
  /** The result of the last attempt. */
  readonly notice:
    | null
    | 'wrongCode'
    | 'codesNotKept'
    | 'wrongMailedCode'
    | 'mailedCodeEnded'
    | 'wrongPassword'
    | 'passkeyRefused'
    | 'passwordChanged'
    | 'accountExists'
    | 'noAccount'
    | 'providerFailed'
    | 'providerRefused'
    | 'addressInvalid'
    | 'emailNotVerified'
    | 'methodLimit'
    | 'connectionRequired';
  /** Whether the user has a passkey; only at the second factor. */
  readonly hasPasskey: boolean;
  /** Whether the user has an authenticator app; only at the second factor. */
  readonly hasAuthenticator: boolean;
  /** The first page. */
  readonly signIn: {
    /** The form that was sent last. */
    readonly form: 'signIn' | 'signUp' | 'reset' | null;
    /** The address with which they sign in; null: the page asks for it. */
    readonly address: string | null;
    /** What was typed in the form, passwords and codes left out. */
    readonly entered: { readonly email?: string; readonly name?: string };
    /** The address to which a mail went, or would have; null: the page asks for no code. */
    readonly mailedTo: string | null;
    /** The mailed code connects an account at the provider to the address. */
    readonly connects: boolean;
    /** The identity provider of an organization to which the domain of the address leads. */
    readonly connection: { readonly id: string; readonly name: string; readonly enforced: boolean } | null;
    /** An address may lead to one, so the page asks for it before it mails a code. */
    readonly hasConnections: boolean;
    readonly problems: readonly { readonly path: string; readonly code: DetailCode }[];
    readonly allowsSignUp: boolean;
    readonly passwordMinLength: number;
  };
  /** The signed-in user; only at the consent. */
  readonly user: {
    readonly displayName: string;
    readonly email: string | null;
    readonly pictureUrl: string | null;
  } | null;
  /** The project and the organization of the app; only at the consent. */
  readonly maker: { readonly project: string; readonly organization: string | null } | null;
  /** The permissions that the app requests; null: all permissions of the user. */
  readonly scopes:
    readonly { readonly scope: string; readonly name: string; readonly description: string | null }[] | null;
  /** Permissions that the user does not hold yet; the app may use them when the user does. */
  readonly later: NonNullable<PageState['scopes']>;
  /** What the user takes into their authenticator app, or the recovery codes that they keep; only where they add it. */
  readonly enrolment:
    | { readonly secret: string; readonly otpauthUrl: string }
    | { readonly recoveryCodes: readonly string[] }
    | null;
  /** The organizations of the user, and whether they may sign in for none; only at the choice of one. */
  readonly choices: {
    readonly organizations: readonly {
      readonly id: string;
      readonly name: string;
      /** The path of its logo. */
      readonly logoPath: string | null;
    }[];
    readonly withoutOrganization: boolean;
  } | null;
  /** The organization for which the user signs in; only at the consent. */
  readonly organization: string | null;
  /** The scopes of OpenID Connect that the app requests; only at the consent. */
  readonly openid: readonly ('openid' | 'profile' | 'email' | 'offline_access')[];
  /** The address with which the form begins. */
  readonly loginHint: string | null;
  /** The language that the app asked for; null: that of the browser. */
  readonly language: Language | null;
  /** The device that waits for the answer; null: an app in this browser. */
  readonly device: ShownDevice | null;
  /** The answer that the last page posts to the app. */
  readonly fields: Readonly<Record<string, string>>;
}

/** A hidden field of a form. */
export const hiddenField = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

/** A page with the name, logo and colour of the app. `title` and `place` are sentences with placeholders. */
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

function brand({ name, logoUrl, logoPath }: BrandedApp, hasLogo: boolean): Html {
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

/** Hosts that may appear in a policy; any other character could add a directive to it. */
const plainHost = /^[a-z0-9.-]+(:\d+)?$/;

/** The origin from which a picture is loaded, if a policy can name it. */
function imageSourceOf(address: string | null): string | undefined {
  const { protocol, host } = address === null ? { protocol: '', host: '' } : new URL(address);
  return protocol === 'https:' && plainHost.test(host) ? `https://${host}` : undefined;
}

/**
 * The source that `form-action` allows beside this service. Chromium compares every redirect after a form with the
 * policy, and an app may redirect from its registered address to another host, so only the scheme can be limited.
 */
const formTarget = (redirectUri: string): string => new URL(redirectUri).protocol;

/** The part of the app's address that people recognize: its host, or its scheme if that belongs to the app. */
export function placeOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return /^https?:$/.test(protocol) ? host : protocol.slice(0, -1);
}
