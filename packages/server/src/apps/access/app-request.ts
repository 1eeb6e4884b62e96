import type { OpenidScope } from '../../schema/apps/openid-scope.ts';
import type { Language } from '../../languages.ts';

/** The parameters of OpenID Connect in an authorization request (openid §3). */
interface OpenidRequest {
  readonly scopes: readonly OpenidScope[];
  /** Null if none was sent. */
  readonly nonce: string | null;
}

/** A command line that waits at a loopback address for its code (identity §9). */
export interface CliRequest {
  readonly state: string;
  /** PKCE challenge of the code: only the command line that began the sign-in can exchange it. */
  readonly challenge: string;
}

/** The authorization request of an app (identity §12). */
export interface AppRequest {
  readonly appId: string;
  /** As sent; it matches a redirect URI that the app has registered. */
  readonly redirectUri: string;
  readonly challenge: string;
  /** Null if none was sent. */
  readonly state: string | null;
  /** The requested permissions; null for all scopes that the app may request. */
  readonly scopes: readonly string[] | null;
  /** Absent: a plain request of OAuth 2.0. */
  readonly openid?: OpenidRequest;
  /** Resource servers for which the access tokens are intended (RFC 8707); absent if the app named none. */
  readonly resources?: readonly string[];
  /** How the app gets the response; absent: in the query of the redirect URI. */
  readonly responseMode?: 'form_post';
  /** The user of the `id_token_hint`; no other user can finish this sign-in. */
  readonly expectedUserId?: string;
  /** The consent page appears even if the user has consented before. */
  readonly asksConsent?: true;
  /** The user has to use a second factor, and to add one if they have none (`acr_values`). */
  readonly asksFactor?: true;
  /** The address with which the sign-in form is prefilled (`login_hint`). */
  readonly loginHint?: string;
  /**
   * The organization for which the user signs in: its id or slug as sent, or the user's choice; null: for none. Absent:
   * not decided yet.
   */
  readonly organization?: string | null;
  /** The language that the app requested; absent for that of the browser. */
  readonly language?: Language;
  /**
   * Present if the user signs in to this service itself, and not to an app. The redirect URI is then the page to open
   * afterwards.
   */
  readonly toService?: {
    readonly allowsSignUp: boolean;
    /** Whether users may sign in through providers of organizations: false for the account pages and command lines. */
    readonly takesConnections: boolean;
    /** The command line that gets the session and listens at the redirect URI; absent: the browser gets the session. */
    readonly cli?: CliRequest;
  };
  /**
   * A device that waits for the user (RFC 8628), for an app or a command line. The device gets the response instead of
   * a redirect URI.
   */
  readonly device?: WaitingDevice;
}

/** A waiting device, with the details that the page shows so that the user can recognize it. */
export interface WaitingDevice {
  /** Hash of its device code. */
  readonly hash: string;
  readonly userCode: string;
  readonly address: string | null;
  /** Whether the device's request came from the network of the browser in which the code was entered. */
  readonly isOwnNetwork: boolean;
  readonly userAgent: string | null;
  readonly beganAt: string;
}
