import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/* Parses and compares network addresses of callers, and the networks that may call. */

type Family = 'ipv4' | 'ipv6';

interface Network {
  /** In canonical form, never IPv4-mapped. */
  readonly address: string;
  readonly bits: number;
  readonly family: Family;
}

/** The family of a valid address. */
export const familyOf = (address: string): Family => (isIPv4(address) ? 'ipv4' : 'ipv6');

/**
 * Parses a network in CIDR form or a single address; undefined for any other text. Bits after the prefix length are
 * ignored. A mapped network (`::ffff:10.0.0.0/104`) becomes an IPv4 network, with a prefix that is 96 bits shorter.
 * Zones are refused.
 */
export function parseNetwork(text: string): Network | undefined {
  const [base = '', length, ...rest] = text.split('/');
  const address = base.includes('%') ? undefined : canonicalAddress(base);
  if (address === undefined || rest.length > 0) return undefined;
  const family = familyOf(address);
  const width = family === 'ipv4' ? 32 : 128;
  const mapped = family === 'ipv4' && base.includes(':') ? 96 : 0;
  const bits =
    length === undefined ? width : /^(0|[1-9]\d{0,2})$/.test(length) ? Number(length) - mapped : -1;
  return bits < 0 || bits > width ? undefined : { address, bits, family };
}

/**
 * Whether an address in canonical form is in one of the networks. An IPv4 address can only be in IPv4 networks: `::/0`
 * means all of IPv6, although BlockList would also match mapped IPv4 addresses.
 */
export function covers(cidrs: readonly string[], address: string): boolean {
  const family = familyOf(address);
  const list = new BlockList();
  for (const cidr of cidrs) {
    const network = parseNetwork(cidr);
    if (network?.family === family) list.addSubnet(network.address, network.bits, family);
  }
  return list.check(address, family);
}

/**
 * Whether the networks together contain every address of a network; for example, two halves contain the whole. As in
 * `covers`, IPv4 and IPv6 networks never contain each other.
 */
export function liesWithin(cidr: string, cidrs: readonly string[]): boolean {
  const inner = parseNetwork(cidr);
  if (!inner) return false;
  const [first, last] = rangeOf(inner);
  const ranges = cidrs
    .flatMap((cidr) => parseNetwork(cidr) ?? [])
    .filter(({ family }) => family === inner.family)
    .map(rangeOf)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  let next = first;
  for (const [from, to] of ranges) if (from <= next && to >= next) next = to + 1n;
  return next > last;
}

/** The first and the last address of a network, as numbers. */
function rangeOf({ address, bits, family }: Network): readonly [bigint, bigint] {
  const [width, value] = family === 'ipv4' ? [32, ipv4Value(address)] : [128, ipv6Value(address)];
  const size = 1n << BigInt(width - bits);
  const first = value - (value % size);
  return [first, first + size - 1n];
}

const ipv4Value = (address: string): bigint =>
  address.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);

const ipv6Value = (address: string): bigint =>
  groupsOf(address).reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n);

/** All eight groups of a canonical IPv6 address. */
function groupsOf(address: string): string[] {
  const [head = '', tail = ''] = address.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === '' ? [] : tail.split(':');
  return [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back];
}

const mappedPrefix = '::ffff:';

/**
 * Converts an address to the text form of RFC 5952, and an IPv4-mapped address to IPv4; undefined for any other text.
 */
export function canonicalAddress(address: string): string | undefined {
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  // Checked first, because a dual-stack socket reports IPv4 callers in this form.
  if (address.startsWith(mappedPrefix) && isIP(address.slice(mappedPrefix.length)) === 4) {
    return address.slice(mappedPrefix.length);
  }
  const [unzoned = ''] = address.split('%');
  const text = new URL(`http://[${unzoned}]`).hostname.slice(1, -1);
  const groups = text.startsWith(mappedPrefix) ? text.slice(mappedPrefix.length).split(':') : [];
  // Only a mapped address has exactly two groups after the prefix, unlike `::ffff:1` and `::ffff:1:2:3`.
  if (groups.length !== 2) return text;
  const [high = 0, low = 0] = groups.map((group) => parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/**
 * The network that rate limits count by (conventions §10): an IPv4 address, or the /64 network of an IPv6 address, in
 * canonical form.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const prefix = groupsOf(address).slice(0, 4);
  // The 64 zero bits at the end are the longest run of zeros, so `::` replaces them together with the zero groups
  // before them.
  while (prefix.at(-1) === '0') prefix.pop();
  return `${prefix.join(':')}::/64`;
}
