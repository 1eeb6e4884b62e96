import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Whether an address is in one of the networks; undefined if it is not an address. IPv4 and IPv6 networks never match
 * each other's addresses.
 */
export function isInNetworks(cidrs: readonly string[], address: string): boolean | undefined {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*$/, '');
  if (!isIPv4(plain) && !isIPv6(plain)) return undefined;
  const family = isIPv4(plain) ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [base = '', bits] = cidr.split('/');
    if (family === 'ipv4' ? !isIPv4(base) : !isIPv6(base)) continue;
    list.addSubnet(base, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
  }
  return list.check(plain, family);
}
