import type { Config } from '../../config.ts';
import { issuerOf, type LiveApp } from './app.ts';

/** What an app is told at its redirect URI (RFC 6749 §4.1.2), always with who says it (RFC 9207). */

/** Errors that lead back to an app; what they are for a person is on our own pages. */
export type AppError =
  | 'invalid_request'
  | 'invalid_scope'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'temporarily_unavailable';

interface Asked {
  readonly redirectUri: string;
  /** Null: none that could be repeated. */
  readonly state: string | null;
}

export const codeAddress = (config: Config, app: LiveApp, asked: Asked, code: string): string =>
  address(config, app, asked, { code });

/** `description` is for who builds the app: fixed English words, never anything that was sent. */
export const errorAddress = (
  config: Config,
  app: LiveApp,
  asked: Asked,
  error: AppError,
  description?: string,
): string =>
  address(config, app, asked, { error, ...(description ? { error_description: description } : {}) });

/**
 * Parameters are appended, and nothing before them is changed: whoever registered an address gets it back character by
 * character. It has no fragment. A parameter of the same name that stands in it goes, so that each is there once.
 */
function address(
  config: Config,
  app: LiveApp,
  { redirectUri, state }: Asked,
  told: Readonly<Record<string, string>>,
): string {
  const parameters = { ...told, ...(state === null ? {} : { state }), iss: issuerOf(config, app) };
  const [path = '', query = ''] = redirectUri.split(/\?(.*)/s);
  const kept = query.split('&').filter((pair) => pair !== '' && !(nameOf(pair) in parameters));
  return `${path}?${[...kept, new URLSearchParams(parameters).toString()].join('&')}`;
}

const nameOf = (pair: string): string => [...new URLSearchParams(pair).keys()][0] ?? '';
