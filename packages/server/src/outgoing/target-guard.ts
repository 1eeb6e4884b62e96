import type { Config } from '../config/config.ts';
import { fail } from '../errors.ts';
import { createAddressRule } from './addresses.ts';

/**
 * Protection against requests to internal targets (events §5), for webhooks and for identity providers. The guard
 * checks the form of the URL, resolves its name, and checks every address: when a subscription is created or changed,
 * to inform its owner, and again before each connection, which is the check that protects. The sender connects to the
 * checked addresses and resolves nothing itself, so changing the DNS record in between (DNS rebinding) has no effect.
 */

/** Returns all addresses of a name. Rejects if there are none, or if no name server responds. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Why a target is forbidden. */
type Fault = 'scheme' | 'credentials' | 'port' | 'private_address';

/** Thrown if the target is forbidden, for the reasons in `faults`. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
  readonly faults: readonly Fault[];
  constructor(faults: readonly Fault[]) {
    super(faults.join(', '));
    this.faults = faults;
  }
}

/** Thrown if the name has no address, or could not be resolved. */
export class NameNotResolved extends Error {
  override readonly name = 'NameNotResolved';
}

export interface TargetGuard {
  /**
   * Returns the addresses to connect to, at least one.
   * @throws TargetRefused, NameNotResolved
   */
  addressesOf(url: URL): Promise<readonly string[]>;
  /**
   * Checks the URL of a new subscription. A name without an address is accepted: its DNS may be set up later, and
   * nothing is sent until then. `path` is the field that the error names.
   * @throws WEBHOOK_URL_NOT_ALLOWED
   */
  assertUrlAllowed(url: string, path?: string): Promise<void>;
}

const MIN_USER_PORT = 1024;
const webPorts = new Set([80, 443]);
/** Ports of NFS, MySQL, PostgreSQL, Redis, Elasticsearch, memcached and MongoDB. */
const closedPorts = new Set([2049, 3306, 5432, 6379, 9200, 11211, 27017]);

const fixes: Readonly<Record<Fault | 'format', string>> = {
  format: 'Use an absolute https URL.',
  scheme: 'Use an https URL.',
  credentials: 'Take user name and password out of the URL: deliveries are signed instead.',
  port: 'Use port 443, 80, or one above 1023 that belongs to no database or file server.',
  private_address:
    'Use a host whose addresses are all public. For events at a receiver on your own machine: doorward events tail --forward <address>.',
};

export function createTargetGuard(
  config: Pick<Config['webhooks'], 'allowHttp' | 'allowedPrivateCidrs'>,
  resolve: Resolve,
): TargetGuard {
  const isAllowed = createAddressRule(config.allowedPrivateCidrs);

  function faultsOfForm(url: URL): readonly Fault[] {
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    return [
      ...(url.protocol === 'https:' || (config.allowHttp && url.protocol === 'http:')
        ? []
        : (['scheme'] as const)),
      ...(url.username || url.password ? (['credentials'] as const) : []),
      ...(closedPorts.has(port) || (port < MIN_USER_PORT && !webPorts.has(port)) ? (['port'] as const) : []),
    ];
  }

  async function addressesOfHost({ hostname }: URL): Promise<readonly string[]> {
    // The URL parser has already normalized an address in any notation.
    const literal = /^\[(.*)\]$|^(\d+(?:\.\d+){3})$/.exec(hostname);
    const addresses = literal ? [literal[1] ?? literal[2] ?? ''] : await resolveName(hostname);
    if (!addresses.every(isAllowed)) throw new TargetRefused(['private_address']);
    return addresses;
  }

  async function addressesOf(url: URL): Promise<readonly string[]> {
    const faults = faultsOfForm(url);
    if (faults.length > 0) throw new TargetRefused(faults);
    return addressesOfHost(url);
  }

  /** Returns all faults, for the person who types the URL. Checks the host even if the form of the URL is refused. */
  async function faultsOf(url: URL): Promise<readonly Fault[]> {
    const faults = faultsOfForm(url);
    try {
      await addressesOfHost(url);
      return faults;
    } catch (error) {
      if (error instanceof NameNotResolved) return faults;
      if (error instanceof TargetRefused) return [...faults, ...error.faults];
      throw error;
    }
  }

  async function resolveName(hostname: string): Promise<readonly string[]> {
    const addresses = await resolve(hostname).catch((cause: unknown) => {
      throw new NameNotResolved('The name could not be resolved.', { cause });
    });
    if (addresses.length === 0) throw new NameNotResolved('The name has no address.');
    return addresses;
  }

  return {
    addressesOf,
    async assertUrlAllowed(text, path = 'url') {
      const faults = URL.canParse(text) ? await faultsOf(new URL(text)) : (['format'] as const);
      if (faults.length === 0) return;
      throw fail('WEBHOOK_URL_NOT_ALLOWED', {
        details: faults.map((code) => ({ path, code })),
        fix: faults.map((code) => fixes[code]).join(' '),
      });
    },
  };
}
