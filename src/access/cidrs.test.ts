import { describe, expect, it } from 'vitest';
import { canonicalAddress, covers, familyOf, networkOf, parseNetwork } from './cidrs.ts';

describe('a network as it is written', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0', 8, 'ipv4'],
    ['10.0.0.0/0', '10.0.0.0', 0, 'ipv4'],
    ['192.0.2.7', '192.0.2.7', 32, 'ipv4'],
    ['192.0.2.7/32', '192.0.2.7', 32, 'ipv4'],
    ['::/0', '::', 0, 'ipv6'],
    ['2001:DB8::/128', '2001:db8::', 128, 'ipv6'],
    ['::1', '::1', 128, 'ipv6'],
    ['::ffff:10.0.0.0/104', '10.0.0.0', 8, 'ipv4'],
    ['::ffff:10.0.0.0/96', '10.0.0.0', 0, 'ipv4'],
    ['::ffff:a00:1/128', '10.0.0.1', 32, 'ipv4'],
    ['::ffff:10.0.0.1', '10.0.0.1', 32, 'ipv4'],
  ])('%s', (text, address, bits, family) => {
    expect(parseNetwork(text)).toEqual({ address, bits, family });
  });

  it.each([
    ...['', '/', '/8', 'x/8', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/08', '10.0.0.0/8/8', '10.0.0.0/-1'],
    ...['10.0.0.0/8x', '10.0.0.0/x8', '10.0.0.0/1000', '10.0.0.0/ 8', '10.0.0/8', '::/129', '::/1280'],
    ...['fe80::1%eth0', 'fe80::1%eth0/64', '::ffff:10.0.0.0/95', '::ffff:10.0.0.0/129', '10.0.0.0/8/'],
  ])('%j is none', (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  });
});

describe('covers', () => {
  it.each([
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.1.2.3/8', '10.9.9.9', true],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['::/0', '2001:db8::1', true],
    ['::/0', '203.0.113.9', false],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::ffff:10.0.0.0/104', '10.1.1.1', true],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['192.0.2.7', '192.0.2.7', true],
    ['192.0.2.7', '192.0.2.8', false],
    ['nonsense', '192.0.2.8', false],
  ])('%s and %s: %s', (cidr, address, expected) => {
    expect(covers([cidr], address)).toBe(expected);
    expect(covers(['198.51.100.0/24', cidr], address)).toBe(expected);
  });

  it('nothing lies in no network', () => {
    expect(covers([], '192.0.2.8')).toBe(false);
  });
});

describe('one text for an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['::ffff:192.0.2.1%eth0', '192.0.2.1'],
    ['::ffff:7f', '::ffff:7f'],
    ['::ffff:0:7f', '0.0.0.127'],
    ['::ffff:a00:1:1', '::ffff:a00:1:1'],
    ['0:0:ffff::', '0:0:ffff::'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['fe80::1:2', 'fe80::1:2'],
    ['::', '::'],
  ])('%s', (text, address) => {
    expect(canonicalAddress(text)).toBe(address);
  });

  it.each(['', 'x', '192.0.2', '::ffff:192.0.2', '::ffff:192.0.2.1.1', '[::1]', '192.0.2.1/32', '::1 '])(
    '%j has none',
    (text) => {
      expect(canonicalAddress(text)).toBeUndefined();
    },
  );

  it('and one family', () => {
    expect(['192.0.2.1', '::1'].map(familyOf)).toEqual(['ipv4', 'ipv6']);
  });
});

describe('what counts as one network', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1:2:3:4', '2001:db8::/64'],
    ['2001:db8:0:2::6', '2001:db8:0:2::/64'],
    ['1::4:5:6:7:8', '1:0:0:4::/64'],
    ['::2:3:4:5:6:7', '0:0:2:3::/64'],
    ['::1', '::/64'],
    ['::', '::/64'],
    ['1::', '1::/64'],
  ])('%s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
