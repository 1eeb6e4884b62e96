import type { WaitingDevice } from '../../apps/access/app-request.ts';
import type { LiveApp } from '../../apps/access/app.ts';
import type { NamedScope } from '../../apps/access/scopes.ts';
import type { Language } from '../../languages.ts';
import type { IdentityProviders } from '../../providers/providers.ts';
import type { OpenidScope } from '../../schema/apps/openid-scope.ts';
import type { StepName } from '../admission/answer-app.ts';
import type { ShownEnrolment } from '../enrolment/shown-enrolment.ts';
import type { Notice } from '../flow/flow-data.ts';
import type { ShownChoices } from '../organization-choice/shown-choices.ts';
import type { PageProfile } from '../steps/page-profile.ts';
import type { FirstPage } from './first-page.ts';

/* The data of the hosted sign-in pages. Pages import only these types from sign-in, never values. */

export interface PersonProfile {
  readonly displayName: string;
  readonly email: string | null;
  readonly pictureUrl: string | null;
}

/** The project and owner of the app. Shown because the app's name is free text and can imitate any other. */
export interface AppOwner {
  readonly project: string;
  readonly organization: string | null;
}

/** A provider through which people can sign in. */
type ShownProvider = Pick<IdentityProviders['offered'][number], 'key' | 'name' | 'logoUrl'>;

/** The device that waits for a decision. Pages never get the hash of its code. */
export type ShownDevice = Omit<WaitingDevice, 'hash'>;

/** The step that a browser's sign-in to an app has reached, and the data of its page. */
export interface PageState {
  readonly app: PageProfile;
  readonly redirectUri: string;
  readonly formToken: string;
  readonly step: StepName;
  readonly providers: readonly LiveApp['enabledProviders'][number][];
  readonly identityProviders: readonly ShownProvider[];
  /** The name of the provider through which the user last tried to sign in. */
  readonly provider: string | null;
  /** The result of the last attempt. */
  readonly notice: Notice | null;
  /** Whether the user has a passkey. Set only at the second factor. */
  readonly hasPasskey: boolean;
  /** Whether the user has an authenticator app. Set only at the second factor. */
  readonly hasAuthenticator: boolean;
  readonly signIn: FirstPage;
  /** The signed-in user. Set only on the consent page. */
  readonly user: PersonProfile | null;
  /** Set only at the consent. */
  readonly maker: AppOwner | null;
  /**
   * The permissions that the app requests. Null if the app is not restricted: it may then use all rights of the user in
   * its project.
   */
  readonly scopes: readonly NamedScope[] | null;
  /** Permissions that the user does not hold yet. The app may use them once the user holds them. */
  readonly later: readonly NamedScope[];
  /** The data for setting up an authenticator app, or new recovery codes. Set only while the user adds one. */
  readonly enrolment: ShownEnrolment | null;
  /** The organizations that the user can choose from. Set only on the page for that choice. */
  readonly choices: ShownChoices | null;
  /** The name of the organization that the user signs in for. Set only on the consent page. */
  readonly organization: string | null;
  /**
   * The OpenID Connect scopes, which say what the app will learn about the user; empty for a plain OAuth 2.0 request.
   */
  readonly openid: readonly OpenidScope[];
  /** The address that the app suggests (`login_hint`). */
  readonly loginHint: string | null;
  /** The language that the app requested; null for the language of the browser. */
  readonly language: Language | null;
  /** The device that waits for the decision; null for an app in this browser. */
  readonly device: ShownDevice | null;
  /** The fields that the last page posts to the app; empty at every other step. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The state of a mailed link in the browser that opened it. */
export type LinkState =
  | {
      readonly state: 'ready';
      readonly app: PageProfile;
      readonly redirectUri: string;
      readonly token: string;
      /** The language that the app requested. */
      readonly language: Language | null;
      /** For a new password: the values that its form sends in addition to the password, and the minimum length. */
      readonly reset: {
        readonly code: string;
        readonly formToken: string;
        readonly minLength: number;
      } | null;
    }
  /** Opened in another browser: the page shows the code, and the link has no effect. */
  | { readonly state: 'otherBrowser'; readonly code: string }
  | { readonly state: 'invalid' };
