import type { Config } from '../../config/config.ts';
import { fail } from '../../errors.ts';
import type { AppRequest } from '../../apps/access/app-request.ts';

/**
 * Error codes of a sign-in, for the page to which it redirects. They carry no details, because addresses are logged.
 */
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
 * Asserts that the address is on one of our own origins. It must begin with the origin as configured, so that no
 * interpretation of the rest (user info, another port, a longer host) points elsewhere.
 * @throws INVALID_REDIRECT_URI
 */
export function assertOwnOrigin({ security }: Config, redirect: string): void {
  const own = security.origins.some(
    (origin) => redirect === origin || ['/', '?'].some((next) => redirect.startsWith(origin + next)),
  );
  if (!own || misleading.test(redirect) || !URL.canParse(redirect)) throw invalidRedirect();
}

/**
 * A command line that listens on this computer, on any port. `localhost` is not accepted, because it may resolve to
 * another address (RFC 8252 §8.3).
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

/** The page at which a sign-in ends by default: the frontend, or our own page without one. */
export const defaultPage = ({ appUrl, security }: Config): string =>
  security.frontendUrl ?? `${appUrl}/hosted/signed-in`;

/** Adds the parameters to the query, or replaces those that are there. */
export function withQuery(address: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** The first of the account pages. */
export const accountPage = ({ appUrl }: Config): string => `${appUrl}/account`;

/** Whether the address, which is on an own origin, is one of the account pages. */
export function isAccountPage(config: Config, address: string): boolean {
  const page = accountPage(config);
  const { origin, pathname } = new URL(address);
  return origin === new URL(page).origin && `${pathname}/`.startsWith(`${new URL(page).pathname}/`);
}

/**
 * Where a sign-in to this service itself ends that failed. A command line compares the state; the account pages would begin
 * the next sign-in at once.
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
