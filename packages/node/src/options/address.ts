import { ConfigError } from '../contracts/errors.ts';

/**
 * Validates the `url` of the service, and removes slashes at the end. Tokens and secrets are sent there, so http is
 * allowed only for loopback, or if the caller permits it.
 */
export function serviceUrl(value: unknown, allowHttp: boolean): string {
  const wrong = (what: string, fix?: string) => new ConfigError(`\`url\` ${what}.`, ['url'], fix);
  if (typeof value !== 'string' || value === '')
    throw wrong('is missing', 'Give `url`, or set DOORWARD_URL, to the APP_URL of the service.');
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    throw wrong('is not a URL');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw wrong('must be http or https');
  if (url.username !== '' || url.password !== '') throw wrong('must not contain a user name or password');
  if (url.search !== '' || url.hash !== '') throw wrong('must not contain a query or a fragment');
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname))
    throw wrong(
      'must be https',
      'Use https, or set `allowHttp: true` where the network itself is protected.',
    );
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d+){3}$/.test(host);
