import type { Config } from '../../config/config.ts';
import { fail } from '../../errors.ts';
import type { AppRequest } from '../../apps/access/app-request.ts';

/** Error codes of a sign-in, for the page that it redirects to. They carry no details, because addresses are logged. */
export const flowErrors = [
  'accessDenied',
  'invalidState',
  'emailNotVerified',
  'alreadyLinked',
  'signUpDisabled',
  'stepUpRequired',
  'providerUnavailable',
] as const;
export type FlowError = (typeof flowErrors)[number];

/** Characters that the URL parser drops or reads differently than people do, and fragments, which are never sent. */
const misleading = /[\s\p{Cc}\p{Cs}\\#]/u;

/**
 * Asserts that the address is on one of our own origins. It must begin with the origin as configured, so that whatever
 * follows (user info, another port, a longer host) cannot point elsewhere.
 *
 * @throws INVALID_REDIRECT_URI
 */
export function assertOwnOrigin({ security }: Config, redirect: string): void {
  const own = security.origins.some(
    (origin) => redirect === origin || ['/', '?'].some((next) => redirect.startsWith(origin + next)),
  );
  if (!own || misleading.test(redirect) || !URL.canParse(redirect)) throw invalidRedirect();
}

/**
 * The address of a command line that listens on this computer, on any port. `localhost` is not accepted, because it may
 * resolve to another address (RFC 8252 §8.3).
 */
const loopback = /^http:\/\/(?:127\.0\.0\.1|\[::1\]):([1-9]\d{0,4})(?:[/?]|$)/;

export function isLoopback(redirect: string): boolean {
  const port = Number(loopback.exec(redirect)?.[1]);
  return port <= 65_535 && !misleading.test(redirect) && URL.canParse(redirect);
}

export const invalidRedirect = () =>
  fail('INVALID_REDIRECT_URI', {
    fix: 'Use an address on the origin of APP_URL, SECURITY_FRONTEND_URL or SECURITY_ADDITIONAL_ORIGINS, written as there; from a command line http://127.0.0.1:<port>/ or http://[::1]:<port>/.',
  });

/** The page at which a sign-in ends by default: the frontend, or without one our own page. */
export const defaultPage = ({ appUrl, security }: Config): string =>
  security.frontendUrl ?? `${appUrl}/hosted/signed-in`;

/** Adds the parameters to the query, or replaces existing ones. */
export function withQuery(address: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** The first account page. */
export const accountPage = ({ appUrl }: Config): string => `${appUrl}/account`;

/** Whether an address on one of our own origins is an account page. */
export function isAccountPage(config: Config, address: string): boolean {
  const page = accountPage(config);
  const { origin, pathname } = new URL(address);
  return origin === new URL(page).origin && `${pathname}/`.startsWith(`${new URL(page).pathname}/`);
}

/**
 * Where a failed sign-in to this service itself ends. A command line gets its state back to compare. The account pages
 * are not used, because they would immediately start the next sign-in.
 */
export function failurePage(
  config: Config,
  { redirectUri, toService }: Pick<AppRequest, 'redirectUri' | 'toService'>,
  error: FlowError,
): string {
  if (toService?.cli) return withQuery(redirectUri, { error, state: toService.cli.state });
  return withQuery(isAccountPage(config, redirectUri) ? `${config.appUrl}/hosted/signed-in` : redirectUri, {
    error,
  });
}
