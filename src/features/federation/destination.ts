import type { Config } from '../../config.ts';
import { fail } from '../../errors.ts';

/** Where a browser may be sent at the end of a sign-in, and how a failure is told there. */

/** What the page is told; never more, since it stands in an address. */
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

/** What the URL parser would drop or read otherwise than a person does, and fragments, which lead nowhere. */
const misleading = /[\s\p{Cc}\p{Cs}\\#]/u;

/**
 * An address on one of our own origins. It has to begin with the origin as it is written there, so that no reading of
 * the rest (user info, another port, a longer host) can lead elsewhere. @throws INVALID_REDIRECT_URI
 */
export function assertOwnPage({ security }: Config, redirect: string): void {
  const own = security.origins.some(
    (origin) => redirect === origin || ['/', '?'].some((next) => redirect.startsWith(origin + next)),
  );
  if (!own || misleading.test(redirect) || !URL.canParse(redirect)) throw invalidRedirect();
}

/**
 * A command line that listens on this computer, at any port. `localhost` may be resolved to something else (RFC 8252
 * §8.3).
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

/** The frontend, or our own page when there is none. */
export const defaultPage = ({ appUrl, security }: Config): string =>
  security.frontendUrl ?? `${appUrl}/hosted/signed-in`;

/** The address with these parameters in its query, each once. */
export function withQuery(address: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}
