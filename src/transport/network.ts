import { BlockList } from 'node:net';
import { canonicalAddress, familyOf, networkOf, parseNetwork } from '../access/cidrs.ts';

/**
 * Who is calling, for rate limits and the audit record (conventions §10): the socket's address, or what a trusted proxy
 * says in X-Forwarded-For. An IPv6 customer holds at least a /64, so that is what is counted as one network.
 */
export interface ClientNetwork {
  /** Canonical text, never IPv4-mapped: `192.0.2.1`, `2001:db8::1`. `0.0.0.0` when the socket has no address. */
  readonly address: string;
  /** The key of limits: the IPv4 address, or the IPv6 /64 (`2001:db8::/64`). */
  readonly network: string;
}

/** Networks whose X-Forwarded-For is believed. */
export interface TrustedProxies {
  /** Of an address in canonical text. */
  readonly trusts: (address: string) => boolean;
}

/** @throws Error for a text that is neither an address nor a CIDR; it is meant for the start of the process. */
export function trustedProxies(cidrs: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const network = parseNetwork(cidr.trim());
    if (!network) throw new Error(`not a network: ${cidr}`);
    list.addSubnet(network.address, network.bits, network.family);
  }
  if (cidrs.length === 0) return { trusts: () => false };
  // A BlockList answers in 2 µs; the same few proxies are asked about with every request.
  const known = new Map<string, boolean>();
  return {
    trusts: (address) => {
      const before = known.get(address);
      if (before !== undefined) return before;
      if (known.size >= maxKnown) known.clear();
      const trusted = list.check(address, familyOf(address));
      known.set(address, trusted);
      return trusted;
    },
  };
}

const maxKnown = 10_000;

const unknown: ClientNetwork = { address: '0.0.0.0', network: '0.0.0.0' };

// Nobody has more proxies than this; a longer header is not walked to its end.
const maxHops = 32;

/**
 * The client behind a socket. The header is read only when the socket is a trusted proxy, from the right: the first hop
 * that is no trusted proxy is the client, since whatever stands left of it was written by the client itself.
 * A hop that is no address ends the walk at the proxy that passed it on. Never throws.
 */
export function clientNetwork(
  socketAddress: string | undefined,
  xForwardedFor: string | readonly string[] | undefined,
  trusted: TrustedProxies,
): ClientNetwork {
  let address = canonicalAddress(socketAddress ?? '');
  if (address === undefined) return unknown;
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
  const match = /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/.exec(hop);
  return match?.[1] ?? match?.[2] ?? hop;
}
