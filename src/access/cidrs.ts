import { BlockList, isIPv6 } from 'node:net';

/** Whether an address lies in one of the networks (`address/bits`, validated when they were written). */
export function covers(cidrs: readonly string[], address: string): boolean {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [net = '', bits = '0'] = cidr.split('/');
    list.addSubnet(net, Number(bits), isIPv6(net) ? 'ipv6' : 'ipv4');
  }
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
