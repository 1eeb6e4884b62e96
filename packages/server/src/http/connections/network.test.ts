import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientNetwork, trustedProxies } from './network.ts';

const none = trustedProxies([]);

describe('the address of the socket', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1', '192.0.2.1'],
    ['0:0:0:0:0:ffff:c000:0201', '192.0.2.1', '192.0.2.1'],
    ['::1', '::1', '::/64'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1', '2001:db8::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:0:2::6', '2001:db8:0:2::6', '2001:db8:0:2::/64'],
    ['2001:0:0:1::', '2001:0:0:1::', '2001:0:0:1::/64'],
    ['2001:db8:0:0:1:2:3:4', '2001:db8::1:2:3:4', '2001:db8::/64'],
    ['0:0:2:3:4:5:6:7', '::2:3:4:5:6:7', '0:0:2:3::/64'],
    ['1::4:5:6:7:8', '1::4:5:6:7:8', '1:0:0:4::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b::c000:201', '64:ff9b::/64'],
    ['fe80::1%eth0', 'fe80::1', 'fe80::/64'],
    [undefined, '0.0.0.0', '0.0.0.0'],
    ['', '0.0.0.0', '0.0.0.0'],
    ['/var/run/socket', '0.0.0.0', '0.0.0.0'],
  ])('%j', (socket, address, network) => {
    expect(clientNetwork(socket, undefined, none)).toEqual({ address, network });
  });
});

describe('X-Forwarded-For', () => {
  const trusted = trustedProxies(['10.0.0.0/8', '2001:db8:ffff::/48', '192.0.2.7', '::ffff:172.16.0.0/108']);

  it.each<[string, string, string | string[] | undefined, string]>([
    ['is ignored from a stranger', '198.51.100.1', '203.0.113.9', '198.51.100.1'],
    ['names the client behind one proxy', '10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['is read from a mapped socket', '::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['is read from an IPv6 proxy', '2001:db8:ffff::1', '2001:db8::5', '2001:db8::5'],
    ['is read from a single address', '192.0.2.7', '203.0.113.9', '203.0.113.9'],
    ['is read from a mapped network', '172.20.0.1', '203.0.113.9', '203.0.113.9'],
    ['is read from the right', '10.0.0.1', '1.2.3.4, 203.0.113.9, 10.1.1.1', '203.0.113.9'],
    ['cannot be forged on the left', '10.0.0.1', '10.9.9.9, 203.0.113.9', '203.0.113.9'],
    ['ends at the left when all are trusted', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['comes as several headers', '10.0.0.1', ['1.2.3.4', '203.0.113.9'], '203.0.113.9'],
    ['may carry ports', '10.0.0.1', '[2001:db8::5]:443, 10.0.0.2:80', '2001:db8::5'],
    ['may be absent', '10.0.0.1', undefined, '10.0.0.1'],
    ['may be empty', '10.0.0.1', '', '10.0.0.1'],
    ['is left at a malformed hop', '10.0.0.1', '203.0.113.9, unknown, 10.0.0.2', '10.0.0.2'],
    ['is left at an impossible hop', '10.0.0.1', '203.0.113.9, 1.2.3.400', '10.0.0.1'],
    [
      'is not walked without end',
      '10.0.0.1',
      '203.0.113.9,' + Array(500).fill('10.0.0.2').join(),
      '10.0.0.2',
    ],
  ])('%s', (_name, socket, header, address) => {
    expect(clientNetwork(socket, header, trusted).address).toBe(address);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()),
        fc.string({ unit: 'binary' }),
        (hop, noise) => {
          for (const header of [noise, hop, `${noise},${hop}`, `${hop},${noise}`, `[${hop}]:1`]) {
            expect(clientNetwork('10.0.0.1', header, trusted).network).not.toBe('');
            expect(clientNetwork(hop, header, trusted).network).not.toBe('');
          }
        },
      ),
    );
  });

  it('gives one form of an address, whatever form it came in', () => {
    fc.assert(
      fc.property(fc.ipV6(), (ip) => {
        const once = clientNetwork(ip, undefined, none);
        expect(clientNetwork(once.address, undefined, none)).toEqual(once);
        expect(clientNetwork(ip.toUpperCase(), undefined, none)).toEqual(once);
      }),
    );
  });
});

it.each(['', 'x', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/', '::/129', '10.0.0.0/8/8x', '::ffff:10.0.0.0/8'])(
  'refuses the network %j at the start',
  (cidr) => expect(() => trustedProxies([cidr])).toThrow(/not a network/),
);
