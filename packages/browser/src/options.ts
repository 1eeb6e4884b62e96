import { configError } from './errors.ts';

/** Options of `createBrowserClient`. */
export interface BrowserClientOptions {
  /** Issuer of the project: `https://doorward.example/org/<organization>/prj/<project>`, or `/acc/…`. */
  readonly issuer: string;
  /** Client id of the project app. */
  readonly clientId: string;
  /**
   * The page to which the hosted pages return. It must be registered in the app, have this origin, and call `start()`.
   */
  readonly redirectUri: string;
  /** Permissions that the app requests, such as `order:read`. Default: all scopes of the app. */
  readonly scopes?: readonly string[];
  /** Origins to which `fetch` adds the token. Default: none. */
  readonly origins?: readonly string[];
  /** Shows the address `returnTo` after a sign-in. Default: `history.replaceState`, which routers do not notice. */
  readonly navigate?: (returnTo: string) => void;
}

/** Checked options. */
export interface Settings extends Required<Omit<BrowserClientOptions, 'scopes' | 'origins' | 'navigate'>> {
  readonly scopes: readonly string[] | undefined;
  readonly origins: ReadonlySet<string>;
  readonly navigate: (returnTo: string) => void;
  /** Address of the API, without a slash at the end. */
  readonly api: string;
}

const names = ['issuer', 'clientId', 'redirectUri', 'scopes', 'origins', 'navigate'];
const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Validates the options. Does not access the page, so that a server can create a client too.
 *
 * @throws DoorwardError `CONFIG`
 */
export function checkedOptions(options: BrowserClientOptions): Settings {
  const unknown = Object.keys(options).filter((name) => !names.includes(name));
  if (unknown.length > 0) throw configError(`unknown option: ${unknown.join(', ')}`);
  const { issuer, clientId, redirectUri, scopes, origins = [], navigate } = options;
  secureUrl('issuer', issuer);
  const base = /^(.+)\/(?:acc|org)\/[^/?#]+\/prj\/[^/?#]+$/.exec(issuer)?.[1];
  if (base === undefined) throw configError('issuer: must end in /org/<id>/prj/<id> or /acc/<id>/prj/<id>');
  if (typeof clientId !== 'string' || clientId === '') throw configError('clientId: is missing');
  if (secureUrl('redirectUri', redirectUri).hash !== '') throw configError('redirectUri: has a fragment');
  if (scopes !== undefined && !(isTexts(scopes) && scopes.every((scope) => /^[^\s:]+:[^\s:]+$/.test(scope))))
    throw configError('scopes: must be a list of names such as order:read');
  if (!isTexts(origins)) throw configError('origins: must be a list of origins');
  for (const origin of origins)
    if (secureUrl('origins', origin).origin !== origin)
      throw configError(`origins: ${origin} is not an origin`);
  return {
    issuer,
    clientId,
    redirectUri,
    scopes,
    origins: new Set(origins),
    navigate: navigate ?? ((returnTo) => history.replaceState(null, '', returnTo)),
    api: `${base}/api`,
  };
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

function secureUrl(name: string, value: unknown): URL {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined) throw configError(`${name}: must be an address`);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback.test(url.hostname)))
    throw configError(`${name}: must be https; http only for this machine`);
  return url;
}
