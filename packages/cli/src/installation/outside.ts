import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { Check } from '../environment/programs.ts';

interface OutsideParts {
  readonly url: string;
  /** Ids of the keys that this installation publishes; empty if they are unknown. */
  readonly keyIds: readonly string[];
  readonly fetch: (input: string, init: RequestInit) => Promise<Response>;
  readonly timeoutMs: number;
  readonly now: () => number;
}

/** Checks a service from outside, at its public URL. Sends only requests without credentials. */
export async function lookFromOutside(parts: OutsideParts): Promise<Check[]> {
  const { url, fetch, timeoutMs, now } = parts;
  const signal = () => AbortSignal.timeout(timeoutMs);
  const before = now();
  let answer: Response;
  try {
    answer = await fetch(`${url}/health/ready`, { signal: signal() });
  } catch (error) {
    return [
      fail('reachability', `${url} does not answer: ${causeOf(error)}`, FIX),
      // A failed request doesn't say what is wrong with the certificate, so it is checked separately.
      ...(url.startsWith('https:') ? (await certificateOf(url, timeoutMs, now)).filter(isFault) : []),
    ];
  }
  const answeredAt = now();
  const time = Date.parse(answer.headers.get('date') ?? '');
  return [
    await healthOf(answer, url),
    ...(await keysOf(parts)),
    ...(Number.isNaN(time) ? [] : [clockOf(url, time - (before + answeredAt) / 2)]),
    ...(url.startsWith('https:') ? await certificateOf(url, timeoutMs, now) : []),
  ];
}

const FIX = 'start the service, or correct APP_URL, DNS and proxy: docs/operating/runbook.md';
const ok = (name: string, message: string): Check => ({ name, status: 'ok', message });
const warn = (name: string, message: string, fix: string): Check => ({ name, status: 'warn', message, fix });
const fail = (name: string, message: string, fix: string): Check => ({ name, status: 'fail', message, fix });
const isFault = ({ status }: Check): boolean => status === 'fail';

interface Readiness {
  readonly status?: unknown;
  readonly checks?: Readonly<Record<string, unknown>>;
}

const failing = (checks: Readonly<Record<string, unknown>>): string =>
  Object.keys(checks)
    .filter((name) => checks[name] !== 'ok')
    .join(', ') || 'it is shutting down';

async function healthOf(answer: Response, url: string): Promise<Check> {
  const { status, checks = {} } = (await answer.json().catch(() => ({}))) as Readiness;
  if (answer.ok && status === 'ok') return ok('reachability', `${url} is ready`);
  return fail(
    'reachability',
    answer.status === 503 && status === 'unavailable'
      ? `${url} is not ready: ${failing(checks)}`
      : `${url} answers ${answer.status}, but it is not Doorward`,
    FIX,
  );
}

/** Checks the published key set, and whether the URL belongs to this installation. */
async function keysOf({ url, keyIds, fetch, timeoutMs }: OutsideParts): Promise<Check[]> {
  const answer = await fetch(`${url}/.well-known/jwks.json`, { signal: AbortSignal.timeout(timeoutMs) })
    .then((response) => response.json())
    .catch(() => null);
  const { keys } = (answer ?? {}) as { readonly keys?: unknown };
  const published = Array.isArray(keys) ? keys.map((key: { readonly kid?: unknown }) => key.kid) : [];
  if (published.length === 0)
    return [fail('key-set', 'no keys at /.well-known/jwks.json', 'let the proxy pass /.well-known')];
  if (keyIds.length === 0)
    return [ok('key-set', `${published.length} ${published.length === 1 ? 'key is' : 'keys are'} published`)];
  return [
    keyIds.some((id) => published.includes(id))
      ? ok('key-set', 'the address belongs to this installation')
      : fail('key-set', 'the address belongs to another installation', 'correct APP_URL, or DATABASE_URL'),
  ];
}

/** @param differenceMs how far the service's clock is ahead; the Date header is only precise to the second */
function clockOf(url: string, differenceMs: number): Check {
  const seconds = Math.max(0, Math.abs(differenceMs) - 1000) / 1000;
  const text = `this clock and that of ${url} differ by ${seconds.toFixed(1)} s`;
  const fix = 'synchronize the clocks with NTP';
  if (seconds > 30) return fail('clock-outside', text, fix);
  return seconds > 2 ? warn('clock-outside', text, fix) : ok('clock-outside', text);
}

const LEAST_DAYS = 21;

interface Certificate {
  /** Expiry, in milliseconds since 1970. */
  readonly end: number;
  /** Why this computer doesn't trust the certificate: an error code of OpenSSL or Node. undefined if it is trusted. */
  readonly fault: string | undefined;
}

/** Reads the server's certificate, even if it isn't trusted; undefined if none was received. */
function readCertificate(url: string, timeoutMs: number): Promise<Certificate | undefined> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const to = { host, servername: isIP(host) === 0 ? host : '', port: Number(port) || 443 };
  return new Promise((resolve) => {
    // Untrusted certificates are accepted, because no data is sent over this connection.
    const socket = connect({ ...to, timeout: timeoutMs, rejectUnauthorized: false }, () => {
      const end = Date.parse(socket.getPeerCertificate().valid_to);
      // The type says Error, but the value is an error code.
      const fault = socket.authorized ? undefined : String(socket.authorizationError);
      resolve({ end, fault });
      socket.destroy();
    });
    for (const event of ['error', 'timeout'] as const)
      socket.once(event, () => {
        resolve(undefined);
        socket.destroy();
      });
  });
}

const CHAIN_FIX =
  'let the proxy send the intermediate certificates too; for an authority of your own set NODE_EXTRA_CA_CERTS';

/** Checks whether the certificate is trusted, and when it expires. */
async function certificateOf(url: string, timeoutMs: number, now: () => number): Promise<Check[]> {
  const certificate = await readCertificate(url, timeoutMs);
  if (!certificate || Number.isNaN(certificate.end))
    return [warn('certificate', 'could not be read', 'look at it with a browser')];
  const { end, fault } = certificate;
  const left = (end - now()) / 86_400_000;
  const fix = 'renew the certificate';
  if (left <= 0) return [fail('certificate', 'has expired', fix)];
  const days = Math.floor(left);
  const text = days === 0 ? 'expires within a day' : `expires in ${days} ${days === 1 ? 'day' : 'days'}`;
  const expiry = left < LEAST_DAYS ? warn('certificate', text, fix) : ok('certificate', text);
  return fault === undefined ? [expiry] : [fail('certificate', faultText(url, fault), CHAIN_FIX), expiry];
}

function faultText(url: string, fault: string): string {
  if (fault === 'ERR_TLS_CERT_ALTNAME_INVALID') return `is not for ${new URL(url).hostname}`;
  if (fault.includes('SELF_SIGNED')) return `is of an authority that this machine does not trust (${fault})`;
  return `has a chain that this machine cannot verify (${fault})`;
}

function causeOf(error: unknown): string {
  const { message, name, cause } = error as Error & {
    readonly cause?: { readonly code?: string; readonly message?: string };
  };
  if (name === 'TimeoutError') return 'no answer in time';
  return cause?.code ?? cause?.message ?? message;
}
