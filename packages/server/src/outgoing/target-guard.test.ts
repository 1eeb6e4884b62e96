import { describe, expect, test } from 'vitest';
import { createSend } from '../webhooks/delivery/sender.ts';
import { createTargetGuard, type Resolve } from './target-guard.ts';

/**
 * Every forbidden target in every notation is refused when a subscription is created, and again before a connection,
 * without opening a socket. The test resolves the names and counts connections.
 */
const config = { allowHttp: false, allowedPrivateCidrs: [] as readonly string[] };
const PUBLIC = '93.184.215.14';

/** Addresses of internal targets, in plain notation. */
const closed = [
  ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255'],
  ...['172.16.0.1', '172.31.255.255', '192.168.0.1', '169.254.169.254', '169.254.0.1', '100.64.0.1'],
  ...['100.100.100.200', '100.127.255.255', '168.63.129.16', '192.0.0.1', '192.0.0.192', '192.0.2.1'],
  ...['192.31.196.1', '192.52.193.1', '192.88.99.1', '192.175.48.1', '198.18.0.1', '198.19.255.255'],
  ...['198.51.100.7', '203.0.113.7', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe'],
  ...['::ffff:93.184.215.14', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::5db8:d70e', '64:ff9b:1::1'],
  ...['100::1', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:2::1', '2001:10::1', '2001:20::1'],
  ...['2001:db8::1', '2002:7f00:1::', '2002:a9fe:a9fe::1', '2620:4f:8000::1', '3fff::1', '5f00::1'],
  ...['fc00::1', 'fd00:ec2::254', 'fd20:ce::254', 'fe80::1', 'febf::1', 'fec0::1', 'ff02::1', 'ff0e::1'],
  ...['2a00:1450::5efe:10.0.0.1', '2a00:1450:1:2:0:5efe:a00:1'],
  ...['2a00:1450:1:2:200:5efe:a00:1', '4000::1', 'fe80::1%eth0'],
];

const hostOf = (address: string): string => (address.includes(':') ? `[${address}]` : address);

/** Notations that URL parsing normalizes to a forbidden address. */
const disguised = [
  ...[
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.1/',
    'https://017700000001/',
    'https://0177.0.0.1/',
  ],
  ...[
    'https://127.1/',
    'https://127.0.1/',
    'https://1２7.0.0.1/',
    'https://①②⑦.⓪.⓪.①/',
    'https://127。0。0。1/',
  ],
  ...['https://%31%32%37.0.0.1/', 'https://0/', 'https://0x0/', 'https://127.0.0.1./', 'https://0xa9fea9fe/'],
  ...['https://2852039166/', 'https://169.254.43518/', 'https://0251.0376.0251.0376/', 'https:127.0.0.1/'],
  ...['https://[0:0:0:0:0:ffff:7f00:0001]/', 'https://[::FFFF:127.0.0.1]/', 'https://[0000::0001]/'],
  ...['HTTPS://127.0.0.1:8443/', 'https:\\\\127.0.0.1\\', 'https://127.0.0.1:443/', ' https://127.0.0.1/'],
];

const malformed = [
  ...['http://example.com/', 'ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com/', 'data:,x'],
  ...['javascript:alert(1)', 'https://user@example.com/', 'https://user:secret@example.com/'],
  ...['https://:secret@example.com/', 'https://example.com@127.0.0.1/', 'example.com', '//example.com/', ''],
  ...['https://', 'https://exa mple.com/', 'https://[::1/', 'https://256.256.256.256/', 'https://1.2.3.4.5/'],
];

const ports = [
  1, 21, 22, 23, 25, 53, 79, 81, 110, 389, 442, 444, 445, 993, 1023, 2049, 3306, 5432, 6379, 9200,
];
const morePorts = [11211, 27017, 0];

const names = new Map<string, readonly string[]>([
  ['public.test', [PUBLIC, '2606:2800:21f:cb07:6820:80da:af6b:8b2c']],
  ['mixed.test', [PUBLIC, '10.0.0.1']],
  ['mixed-the-other-way.test', ['::1', PUBLIC]],
  ...closed.map((address, index) => [`name-${index}.test`, [address]] as const),
]);
const resolve: Resolve = async (name) => {
  const match = names.get(name);
  if (!match) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  return match;
};

const refused = [
  ...closed.filter((address) => !address.includes('%')).map((address) => `https://${hostOf(address)}/hook`),
  ...disguised,
  ...closed.map((_, index) => `https://name-${index}.test/hook`),
  'https://mixed.test/hook',
  'https://mixed-the-other-way.test/hook',
  'https://localhost./hook',
  ...malformed,
  ...[...ports, ...morePorts].map((port) => `https://public.test:${port}/hook`),
];
names.set('localhost.', ['127.0.0.1']);

/** Creates a sender that only records the addresses to which it would connect. */
function counting(guard: ReturnType<typeof createTargetGuard>) {
  const connected: (readonly string[])[] = [];
  const send = createSend({
    guard,
    post: async ({ addresses }) => {
      connected.push(addresses);
      return { status: 204, retryAfter: null, body: Buffer.alloc(0) };
    },
    clock: { now: () => new Date(0) },
    timeoutMs: 1000,
  });
  const to = (url: string) =>
    send({ url, id: 'evt_1', body: '{}', secrets: [Buffer.alloc(32)] }, new AbortController().signal);
  return { connected, to };
}

describe('the target guard', () => {
  const guard = createTargetGuard(config, resolve);

  test(`refuses ${refused.length} forms, before any socket`, async () => {
    const { connected, to } = counting(guard);
    for (const url of refused) {
      await expect(guard.assertUrlAllowed(url), url).rejects.toMatchObject({
        code: 'WEBHOOK_URL_NOT_ALLOWED',
        status: 400,
        extras: { fix: expect.stringMatching(/^(Use|Take) .*\.$/) as string },
      });
      if (URL.canParse(url)) expect((await to(url)).error, url).toBe('blocked');
    }
    expect(connected).toEqual([]);
    expect(refused.length).toBeGreaterThan(200);
  });

  test.each([
    ['http://user:word@localhost.:22/', ['scheme', 'credentials', 'port', 'private_address']],
    ['http://public.test/', ['scheme']],
    ['https://127.0.0.1:5432/', ['port', 'private_address']],
    ['ftp://user@later.test/', ['scheme', 'credentials']],
    ['public.test', ['format']],
  ])('names all that is wrong with %s at once', async (url, codes) => {
    const refusal: unknown = await guard.assertUrlAllowed(url).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: 'WEBHOOK_URL_NOT_ALLOWED',
      extras: { details: codes.map((code) => ({ path: 'url', code })) },
    });
  });

  test('allows public addresses', async () => {
    const { connected, to } = counting(guard);
    for (const url of [
      'https://public.test/hook?a=b',
      'https://public.test:8443/',
      'https://public.test:80/',
      `https://${PUBLIC}/`,
      'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
      'https://1.1.1.1:1024/',
    ]) {
      await guard.assertUrlAllowed(url);
      expect((await to(url)).error, url).toBeNull();
    }
    expect(connected[0]).toEqual(names.get('public.test'));
    expect(connected).toHaveLength(6);
  });

  test('a name that resolves to another address after a check gains nothing', async () => {
    const answers = [[PUBLIC], [PUBLIC], ['127.0.0.1']];
    let requested = 0;
    const rebinding = createTargetGuard(config, async () => answers[requested++] ?? ['127.0.0.1']);
    await rebinding.assertUrlAllowed('https://rebinding.test/');
    const { connected, to } = counting(rebinding);
    // The sender connects to the checked address: each attempt resolves the name exactly once.
    expect((await to('https://rebinding.test/')).error).toBeNull();
    expect(connected).toEqual([[PUBLIC]]);
    expect(requested).toBe(2);
    expect((await to('https://rebinding.test/')).error).toBe('blocked');
    expect(connected).toHaveLength(1);
  });

  test('a name without an address may be subscribed, but gets no deliveries', async () => {
    const { connected, to } = counting(guard);
    await guard.assertUrlAllowed('https://later.test/');
    expect((await to('https://later.test/')).error).toBe('dns');
    const nothing = createTargetGuard(config, async () => []);
    await nothing.assertUrlAllowed('https://later.test/');
    expect((await counting(nothing).to('https://later.test/')).error).toBe('dns');
    expect(connected).toEqual([]);
  });

  test('allows the networks and plain http that the operator has allowed', async () => {
    const opened = createTargetGuard(
      { allowHttp: true, allowedPrivateCidrs: ['127.0.0.0/8', 'fd00::/8'] },
      resolve,
    );
    for (const url of [
      'http://127.0.0.1:9999/',
      'https://127.1:9999/',
      'https://[fd00::7]/',
      'http://public.test/',
    ]) {
      await opened.assertUrlAllowed(url);
    }
    for (const url of [
      'http://10.0.0.1/',
      'https://[::1]/',
      'https://169.254.169.254/',
      'http://127.0.0.1:6379/',
      'https://mixed.test/',
    ]) {
      await expect(opened.assertUrlAllowed(url), url).rejects.toMatchObject({
        code: 'WEBHOOK_URL_NOT_ALLOWED',
      });
    }
  });
});
