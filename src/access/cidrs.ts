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

/** What counts as one network (conventions §10): the IPv4 address, or the /64 of the IPv6 one. Of a canonical address. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === '' ? [] : tail.split(':');
  const prefix = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back].slice(0, 4);
  // The 64 zero bits behind it are the longest run, so that is what `::` stands for, with zeros before it included.
  while (prefix.at(-1) === '0') prefix.pop();
  return `${prefix.join(':')}::/64`;
}
