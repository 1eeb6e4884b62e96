import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exitCodes } from '../exit-codes.ts';
import { Fault } from '../fault.ts';
import type { Env } from '../environment/io.ts';

const WAIT_MS = 5 * 60_000;

interface Attempt {
  /** The URL that the browser opens first. */
  readonly address: string;
  readonly codeVerifier: string;
  /** Resolves with the code from the browser. Rejects with a Fault if the user refuses, or doesn't finish in time. */
  readonly code: Promise<string>;
  readonly close: () => void;
}

/**
 * Starts a sign-in in the browser (identity §9). The service redirects the browser to a loopback URL with a code.
 * Other programs on this computer could call that URL too, so it has a random port, a random path and a state. The
 * code is useless without the verifier, which never leaves this process.
 */
export async function beginAttempt(url: string, signal: AbortSignal): Promise<Attempt> {
  const path = `/${randomBytes(16).toString('base64url')}`;
  const state = randomBytes(24).toString('base64url');
  const codeVerifier = randomBytes(32).toString('base64url');
  const { promise: code, resolve, reject } = withResolvers<string>();
  code.catch(() => undefined);
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (request.method !== 'GET' || pathname !== path || !isEqual(searchParams.get('state') ?? '', state))
      return void response.writeHead(404, { connection: 'close' }).end();
    const given = searchParams.get('code');
    const error = searchParams.get('error');
    response
      .writeHead(200, pageHeaders)
      .end(pageOf(given === null ? 'You are not signed in.' : 'You are signed in.'));
    if (given !== null) resolve(given);
    else reject(refusal(error));
  });
  await new Promise<void>((listening, failed) =>
    server.once('error', failed).listen(0, '127.0.0.1', listening),
  );
  const { port } = server.address() as AddressInfo;
  const query = new URLSearchParams({
    redirect: `http://127.0.0.1:${port}${path}`,
    state,
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const timer = setTimeout(() => reject(late()), WAIT_MS);
  signal.addEventListener('abort', () => reject(signal.reason as Error));
  const close = (): void => {
    clearTimeout(timer);
    server.close();
    server.closeIdleConnections();
  };
  return { address: `${url}/api/auth/cli?${query.toString()}`, codeVerifier, code, close };
}

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  connection: 'close',
};
const pageOf = (text: string): string =>
  `<!doctype html><html lang="en"><title>Doorward</title><p>${text} You can close this page and go back to the command line.</p></html>`;

function refusal(error: string | null): Fault {
  const isDenied = error === 'accessDenied';
  const message = isDenied ? 'The sign-in was refused in the browser.' : 'The sign-in failed in the browser.';
  return new Fault(
    exitCodes.notSignedIn,
    'NOT_SIGNED_IN',
    message,
    error ? `reason: ${error.slice(0, 64)}` : undefined,
  );
}
const late = (): Fault =>
  new Fault(
    exitCodes.notSignedIn,
    'NOT_SIGNED_IN',
    'No sign-in came within five minutes.',
    'doorward login again',
  );

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
}

/** Opens a URL in the browser. Returns whether a browser was started; whether it shows the page can't be known. */
export async function openBrowser(address: string, env: Env): Promise<boolean> {
  const [program = '', ...args] = browserOf(env);
  if (program === '') return false;
  const child = spawn(program, [...args, address], { env, stdio: 'ignore', detached: true });
  child.unref();
  return new Promise((resolve) => {
    child.once('spawn', () => resolve(true));
    child.on('error', () => resolve(false));
  });
}

/** Whether this computer has a browser that can be opened. */
export const hasBrowser = (env: Env): boolean => browserOf(env).length > 0;

function browserOf(env: Env): readonly string[] {
  if (env['BROWSER']) return [env['BROWSER']];
  if (process.platform === 'darwin') return ['open'];
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open'] : [];
}
