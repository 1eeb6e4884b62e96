import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { networkOf } from '../access/cidrs.ts';

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
    const [base = '', length, ...rest] = cidr.trim().split('/');
    const address = canonical(base);
    if (address === undefined || rest.length > 0) throw new Error(`not a network: ${cidr}`);
    const family = familyOf(address);
    const full = family === 'ipv4' ? 32 : 128;
    // A mapped network (::ffff:10.0.0.0/104) is the IPv4 one, 96 bits shorter.
    const mapped = family === 'ipv4' && base.includes(':') ? 96 : 0;
    const bits = length === undefined ? full : /^\d{1,3}$/.test(length) ? Number(length) - mapped : -1;
    if (bits < 0 || bits > full) throw new Error(`not a network: ${cidr}`);
    list.addSubnet(address, bits, family);
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
  let address = canonical(socketAddress ?? '');
  if (address === undefined) return unknown;
  if (xForwardedFor !== undefined && trusted.trusts(address)) {
    const hops = (typeof xForwardedFor === 'string' ? xForwardedFor : xForwardedFor.join()).split(',');
    for (const hop of hops.slice(-maxHops).reverse()) {
      const next = canonical(withoutPort(hop.trim()));
      if (next === undefined) break;
      address = next;
      if (!trusted.trusts(address)) break;
    }
  }
  return { address, network: networkOf(address) };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const match = /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/.exec(hop);
  return match?.[1] ?? match?.[2] ?? hop;
}

const mappedPrefix = '::ffff:';

/** RFC 5952 text, IPv4-mapped as IPv4; undefined for what is no address. */
function canonical(address: string): string | undefined {
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  // What a dual-stack socket says of an IPv4 caller, hence first.
  if (address.startsWith(mappedPrefix) && isIP(address.slice(mappedPrefix.length)) === 4) {
    return address.slice(mappedPrefix.length);
  }
  const [unzoned = ''] = address.split('%');
  const text = new URL(`http://[${unzoned}]`).hostname.slice(1, -1);
  if (!text.startsWith(mappedPrefix)) return text;
  const [high = 0, low = 0] = text
    .slice(mappedPrefix.length)
    .split(':')
    .map((group) => parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
