/* Responses to an app with the result of a sign-in (RFC 6749 §4.1.2), always with the issuer (RFC 9207). */

import type { Config } from '../../config/config.ts';
import { issuerOf, type LiveApp } from './app.ts';

/** The errors that are reported to the app. The service's own pages show all others to the user. */
export type AppError =
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'login_required'
  | 'consent_required'
  | 'interaction_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'registration_not_supported'
  | 'temporarily_unavailable';

interface RedirectTarget {
  readonly redirectUri: string;
  /** Null if the request had no usable state. */
  readonly state: string | null;
}

/** A code, or an error with a fixed English text for the developer of the app. The text never contains input. */
export type AuthorizationResult =
  { readonly code: string } | { readonly error: AppError; readonly error_description?: string };

/** Returns the parameters of the response, which are the same in every response mode. */
export const responseParameters = (
  config: Config,
  app: LiveApp,
  { state }: RedirectTarget,
  result: AuthorizationResult,
): Readonly<Record<string, string>> => ({
  ...result,
  ...(state === null ? {} : { state }),
  iss: issuerOf(config, app),
});

/**
 * Returns the redirect URI with the parameters appended. A query parameter with the same name is removed, so that each
 * occurs once. Path and other parameters keep their spelling, because apps compare the address character by character.
 * A redirect URI never has a fragment.
 */
export function responseRedirect(redirectUri: string, parameters: Readonly<Record<string, string>>): string {
  const [path = '', query = ''] = redirectUri.split(/\?(.*)/s);
  const remaining = query.split('&').filter((pair) => pair !== '' && !(nameOf(pair) in parameters));
  return `${path}?${[...remaining, new URLSearchParams(parameters).toString()].join('&')}`;
}

const nameOf = (pair: string): string => [...new URLSearchParams(pair).keys()][0] ?? '';
