import type { Config } from '../../config.ts';
import { fail } from '../../errors.ts';
import { createAddressRule } from './addresses.ts';

/**
 * Where a webhook may go (events §5). A URL is judged by its form, its name is resolved, and every address is judged.
 * That happens when a subscription is made or changed, to tell its owner, and before each connection, which is what
 * counts: the sender connects to the addresses that were judged and resolves nothing itself, so a name that leads
 * elsewhere a moment later has gained nothing.
 */

/** All addresses of a name, in plain text. Rejects when there are none, or nobody answers. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** The target must not be connected to. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

/** The name has no address at present. */
export class NameNotResolved extends Error {
  override readonly name = 'NameNotResolved';
}

export interface TargetGuard {
  /** What may be connected to, at least one address. @throws TargetRefused, NameNotResolved */
  addressesOf(url: URL): Promise<readonly string[]>;
  /**
   * For a URL that somebody wants to subscribe. A name without an address passes: its DNS may be set up later, and
   * nothing is sent meanwhile. @throws WEBHOOK_URL_NOT_ALLOWED
   */
  assertUrlAllowed(url: string): Promise<void>;
}

const LOWEST_OPEN_PORT = 1024;
const webPorts = new Set([80, 443]);
/** NFS, MySQL, PostgreSQL, Redis, Elasticsearch, memcached, MongoDB. */
const closedPorts = new Set([2049, 3306, 5432, 6379, 9200, 11211, 27017]);

export function createTargetGuard(
  config: Pick<Config['webhooks'], 'allowHttp' | 'allowedPrivateCidrs'>,
  resolve: Resolve,
): TargetGuard {
  const isOpen = createAddressRule(config.allowedPrivateCidrs);

  function assertForm(url: URL): void {
    if (url.protocol !== 'https:' && !(config.allowHttp && url.protocol === 'http:')) {
      throw new TargetRefused(config.allowHttp ? 'Use an https or http URL.' : 'Use an https URL.');
    }
    if (url.username || url.password) {
      throw new TargetRefused('Take user name and password out of the URL: deliveries are signed instead.');
    }
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    if (closedPorts.has(port) || (port < LOWEST_OPEN_PORT && !webPorts.has(port))) {
      throw new TargetRefused(
        'Use port 443, 80, or one above 1023 that belongs to no database or file server.',
      );
    }
  }

  async function addressesOf(url: URL): Promise<readonly string[]> {
    assertForm(url);
    // Of an address in any notation, URL parsing has made the plain one.
    const literal = /^\[(.*)\]$|^(\d+(?:\.\d+){3})$/.exec(url.hostname);
    const addresses = literal ? [literal[1] ?? literal[2] ?? ''] : await resolved(url.hostname);
    if (!addresses.every(isOpen)) throw new TargetRefused('Use a host whose addresses are all public.');
    return addresses;
  }

  async function resolved(hostname: string): Promise<readonly string[]> {
    const addresses = await resolve(hostname).catch((cause: unknown) => {
      throw new NameNotResolved('The name could not be resolved.', { cause });
    });
    if (addresses.length === 0) throw new NameNotResolved('The name has no address.');
    return addresses;
  }

  return {
    addressesOf,
    async assertUrlAllowed(text) {
      try {
        if (!URL.canParse(text)) throw new TargetRefused('Use an absolute https URL.');
        await addressesOf(new URL(text));
      } catch (error) {
        if (error instanceof NameNotResolved) return;
        if (!(error instanceof TargetRefused)) throw error;
        throw fail('WEBHOOK_URL_NOT_ALLOWED', { fix: error.message });
      }
    },
  };
}
