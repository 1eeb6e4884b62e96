import { isIP } from 'node:net';
import { publicSuffix } from '../kernel/input/domain-name.ts';

/** Returns the host of APP_URL, or that of its default if APP_URL is not set. */
export const hostOf = (appUrl: string | undefined): string =>
  appUrl === undefined ? 'localhost' : new URL(appUrl).hostname;

/** Whether the host is the domain or a subdomain of it. */
export const isWithin = (host: string, domain: string): boolean =>
  host === domain || host.endsWith(`.${domain}`);

/**
 * Returns why passkeys must not belong to this domain; empty if they may. Browsers refuse a domain that does not
 * contain the host of APP_URL. A public suffix (`com`, `github.io`) is refused, because the owners of all domains below
 * it could use the passkeys.
 */
export function rpIdConflict(rpId: string, appHost: string): string[] {
  const isBelow = rpId === appHost || (isWithin(appHost, rpId) && isIP(appHost) === 0);
  if (!isBelow) {
    return ['WEBAUTHN_RP_ID must be the host of APP_URL or a parent domain of it.'];
  }
  const suffix = publicSuffix(rpId);
  // A host without a dot, such as localhost, is on no list of public suffixes and may be used as a whole.
  const isPublic = suffix === 'listed' || (suffix === 'default' && rpId !== appHost);
  return isPublic ? ['WEBAUTHN_RP_ID must not be a public suffix: name a domain of your own.'] : [];
}
