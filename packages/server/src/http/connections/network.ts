import { BlockList } from 'node:net';
import { canonicalAddress, familyOf, networkOf, parseNetwork } from '../../kernel/input/cidrs.ts';

/**
 * The network address of the client, for rate limits and the audit log (conventions §10): the address of the socket, or the
 * one in X-Forwarded-For if the socket belongs to a trusted proxy. An IPv6 customer usually has at least a /64, so a /64
 * counts as one network.
 */
interface ClientNetwork {
  /** Canonical text, never IPv4-mapped: `192.0.2.1`, `2001:db8::1`. `0.0.0.0` when the socket has no address. */
  readonly address: string;
  /** The key of limits: the IPv4 address, or the IPv6 /64 (`2001:db8::/64`). */
  readonly network: string;
}

/** The proxies whose X-Forwarded-For is trusted. */
interface TrustedProxies {
  /** Takes an address in canonical text. */
  readonly trusts: (address: string) => boolean;
}

/** @throws Error for a text that is neither an address nor a CIDR */
export function trustedProxies(cidrs: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const network = parseNetwork(cidr.trim());
    if (!network) throw new Error(`not a network: ${cidr}`);
    list.addSubnet(network.address, network.bits, network.family);
  }
  if (cidrs.length === 0) return { trusts: () => false };
  // A BlockList takes 2 µs for a lookup, and every request looks up the same few proxies.
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

// More hops than any real chain of proxies. The rest of a longer header is ignored.
const maxHops = 32;

/**
 * The client behind a socket. X-Forwarded-For is read only if the socket belongs to a trusted proxy, from right to left:
 * the first hop that is not a trusted proxy is the client, because the client may have written everything left of it. At a
 * hop that is not an address, the proxy to the right of it counts as the client. Never throws.
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

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const parts = /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/.exec(hop);
  return parts?.[1] ?? parts?.[2] ?? hop;
}
