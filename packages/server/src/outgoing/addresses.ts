import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * IPv4 ranges that are refused: the IANA special-purpose registry (RFC 6890 and later), multicast, reserved addresses,
 * and the Azure host agent.
 */
const closedV4 = [
  '0.0.0.0/8', // this host, RFC 1122
  '10.0.0.0/8', // private, RFC 1918
  '100.64.0.0/10', // carrier-grade NAT, RFC 6598
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // metadata and agent of Azure, on a public address
  '169.254.0.0/16', // link-local with the metadata of clouds, RFC 3927
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, RFC 6890
  '192.0.2.0/24', // documentation, RFC 5737
  '192.31.196.0/24', // AS112, RFC 7535
  '192.52.193.0/24', // multicast tunnels, RFC 7450
  '192.88.99.0/24', // 6to4 relays, RFC 7526
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112, RFC 7534
  '198.18.0.0/15', // benchmarks, RFC 2544
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
];
const openV6 = ['2000::/3'];
const closedV6 = [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarks, RFC 2928
  '2001:db8::/32', // documentation, RFC 3849
  '2002::/16', // 6to4: an IPv4 address in disguise, RFC 3056
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation, RFC 9637
];

/** Matches the interface ids of ISATAP (RFC 5214), which embed an IPv4 address in any prefix. */
const isatap = /[:](0|200)?:5efe:[0-9a-f]{1,4}:[0-9a-f]{1,4}$/;

function listOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [net = '', bits = ''] = cidr.split('/');
    list.addSubnet(net, Number(bits), isIPv6(net) ? 'ipv6' : 'ipv4');
  }
  return list;
}

const isClosedV4 = listOf(closedV4);
const isOpenV6 = listOf(openV6);
const isClosedV6 = listOf(closedV6);

/**
 * Creates the check whether the service may connect to an address that a customer or provider has chosen. It allows
 * only public internet addresses, never those of internal networks, in any notation. IPv4: all except the listed
 * ranges. IPv6: only ranges assigned to networks (2000::/3), without those for documentation and those that embed an
 * IPv4 address. Networks that the operator has opened (`allowed`, for example `WEBHOOKS_ALLOWED_PRIVATE_CIDRS`) are
 * allowed too. Text that is not an address is refused.
 */
export function createAddressRule(allowed: readonly string[]): (address: string) => boolean {
  const allowedNetworks = listOf(allowed);
  return (text) => {
    // A zone (`fe80::1%eth0`) names an interface of this machine; the address is checked without it.
    const [address = ''] = text.split('%');
    if (isIPv4(address)) return allowedNetworks.check(address, 'ipv4') || !isClosedV4.check(address, 'ipv4');
    if (!isIPv6(address)) return false;
    if (allowedNetworks.check(address, 'ipv6')) return true;
    const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
    return isOpenV6.check(address, 'ipv6') && !isClosedV6.check(address, 'ipv6') && !isatap.test(canonical);
  };
}
