import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/** Addresses and networks, of callers and of those who may call. */
export type Family = 'ipv4' | 'ipv6';

export interface Network {
  /** Canonical text, never IPv4-mapped. */
  readonly address: string;
  readonly bits: number;
  readonly family: Family;
}

export const familyOf = (address: string): Family => (isIPv4(address) ? 'ipv4' : 'ipv6');

/**
 * A network in CIDR form, or one address without a length; undefined for what is neither. Bits behind the length do
 * not count. A mapped network (`::ffff:10.0.0.0/104`) is the IPv4 one, 96 bits shorter. A zone is no part of a network.
 */
export function parseNetwork(text: string): Network | undefined {
  const [base = '', length, ...rest] = text.split('/');
  const address = base.includes('%') ? undefined : canonicalAddress(base);
  if (address === undefined || rest.length > 0) return undefined;
  const family = familyOf(address);
  const full = family === 'ipv4' ? 32 : 128;
  const mapped = family === 'ipv4' && base.includes(':') ? 96 : 0;
  const bits = length === undefined ? full : /^(0|[1-9]\d{0,2})$/.test(length) ? Number(length) - mapped : -1;
  return bits < 0 || bits > full ? undefined : { address, bits, family };
}

/**
 * Whether an address, in canonical text, lies in one of the networks. IPv4 lies in IPv4 networks alone: `::/0` is all of
 * IPv6, and not also what BlockList takes for its mapped part.
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
 * Whether every address of a network lies in one of the networks, each perhaps in another: two halves cover the whole.
 * Both in CIDR form. Families never cover each other, as in `covers`.
 */
export function liesWithin(cidr: string, cidrs: readonly string[]): boolean {
  const inner = parseNetwork(cidr);
  if (!inner) return false;
  const [first, last] = rangeOf(inner);
  const ranges = cidrs
    .flatMap((one) => parseNetwork(one) ?? [])
    .filter(({ family }) => family === inner.family)
    .map(rangeOf)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  let next = first;
  for (const [from, to] of ranges) if (from <= next && to >= next) next = to + 1n;
  return next > last;
}

/** The first and the last address, as numbers. */
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

/** RFC 5952 text, IPv4-mapped as IPv4; undefined for what is no address. */
export function canonicalAddress(address: string): string | undefined {
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  // What a dual-stack socket says of an IPv4 caller, hence first.
  if (address.startsWith(mappedPrefix) && isIP(address.slice(mappedPrefix.length)) === 4) {
    return address.slice(mappedPrefix.length);
  }
  const [unzoned = ''] = address.split('%');
  const text = new URL(`http://[${unzoned}]`).hostname.slice(1, -1);
  const groups = text.startsWith(mappedPrefix) ? text.slice(mappedPrefix.length).split(':') : [];
  // `::ffff:1` and `::ffff:1:2:3` begin alike, but their zeros are not as many.
  if (groups.length !== 2) return text;
  const [high = 0, low = 0] = groups.map((group) => parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** What counts as one network (conventions §10): the IPv4 address, or the /64 of the IPv6 one. Of a canonical address. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const prefix = groupsOf(address).slice(0, 4);
  // The 64 zero bits behind it are the longest run, so that is what `::` stands for, with zeros before it included.
  while (prefix.at(-1) === '0') prefix.pop();
  return `${prefix.join(':')}::/64`;
}
