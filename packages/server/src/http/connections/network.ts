import { BlockList } from 'node:net';
import { canonicalAddress, familyOf, networkOf, parseNetwork } from '../../kernel/input/cidrs.ts';

/**
 * The network address of the client, for rate limits and the audit log (conventions §10): the address of the socket, or
 * the one in X-Forwarded-For if the socket belongs to a trusted proxy. An IPv6 customer usually has at least a /64, so
 * a /64 counts as one network.
 */
interface ClientNetwork {
  /** In canonical form, never IPv4-mapped: `192.0.2.1`, `2001:db8::1`. `0.0.0.0` if the socket has no address. */
  readonly address: string;
  /** The key of rate limits: the IPv4 address, or the IPv6 /64 (`2001:db8::/64`). */
  readonly network: string;
}

/** The proxies whose X-Forwarded-For is trusted. */
interface TrustedProxies {
  /** Takes an address in canonical form. */
  readonly trusts: (address: string) => boolean;
}

/** @throws Error for a text that is neither an address nor a network in CIDR form */
export function trustedProxies(cidrs: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const network = parseNetwork(cidr.trim());
    if (!network) throw new Error(`not a network: ${cidr}`);
    list.addSubnet(network.address, network.bits, network.family);
  }
  if (cidrs.length === 0) return { trusts: () => false };
  // A lookup in a BlockList takes 2 µs, and every request looks up one of the same few proxies.
  const trustByAddress = new Map<string, boolean>();
  return {
    trusts: (address) => {
      const cached = trustByAddress.get(address);
      if (cached !== undefined) return cached;
      if (trustByAddress.size >= maxCached) trustByAddress.clear();
      const trusted = list.check(address, familyOf(address));
      trustByAddress.set(address, trusted);
      return trusted;
    },
  };
}

const maxCached = 10_000;

const unknownClient: ClientNetwork = { address: '0.0.0.0', network: '0.0.0.0' };

// More hops than any real chain of proxies has. The rest of a longer header is ignored.
const maxHops = 32;

/**
 * Returns the client behind a socket. X-Forwarded-For is read only if the socket belongs to a trusted proxy, from right
 * to left: the first hop that is not a trusted proxy is the client, because the client may have written everything to
 * the left of it. If a hop is not an address, the proxy to its right counts as the client. Never throws.
 */
export function clientNetwork(
  socketAddress: string | undefined,
  xForwardedFor: string | readonly string[] | undefined,
  trusted: TrustedProxies,
): ClientNetwork {
  let address = canonicalAddress(socketAddress ?? '');
  if (address === undefined) return unknownClient;
  if (xForwardedFor !== undefined && trusted.trusts(address)) {
    const hops = (typeof xForwardedFor === 'string' ? xForwardedFor : xForwardedFor.join()).split(',');
    for (const hop of hops.slice(-maxHops).reverse()) {
      const next = canonicalAddress(withoutPort(hop.trim()));
      if (next === undefined) break;
      address = next;
      if (!trusted.trusts(address)) break;
    }
  }
  return { address, network: networkOf(address) };
}

/** Removes the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const parts = /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/.exec(hop);
  return parts?.[1] ?? parts?.[2] ?? hop;
}
