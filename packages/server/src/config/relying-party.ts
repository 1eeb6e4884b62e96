import { isIP } from 'node:net';
import { publicSuffix } from '../kernel/input/domain-name.ts';

/** The host of APP_URL, or of its default. */
export const hostOf = (appUrl: string | undefined): string =>
  appUrl === undefined ? 'localhost' : new URL(appUrl).hostname;

/** Whether the host is the domain or below it. */
export const isWithin = (host: string, domain: string): boolean =>
  host === domain || host.endsWith(`.${domain}`);

/**
 * Why passkeys must not belong to this domain: browsers refuse a domain that the host of APP_URL is not in, and every
 * customer of a public suffix (`com`, `github.io`) could use the passkeys of the others.
 */
export function rpIdConflict(rpId: string, appHost: string): string[] {
  const isBelow = rpId === appHost || (isWithin(appHost, rpId) && isIP(appHost) === 0);
  if (!isBelow) {
    return ['WEBAUTHN_RP_ID must be the host of APP_URL or a parent domain of it.'];
  }
  const suffix = publicSuffix(rpId);
  // A host without a dot, as localhost, has no customers and is on no list.
  const isPublic = suffix === 'listed' || (suffix === 'default' && rpId !== appHost);
  return isPublic ? ['WEBAUTHN_RP_ID must not be a public suffix: name a domain of your own.'] : [];
}
