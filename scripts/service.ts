import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once, type EventEmitter } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs the service as a child process, for the demo, the benches, and tests that kill it. It gets its own small
 * environment, so that variables of the caller's shell have no effect.
 */
const root = join(import.meta.dirname, '..');

export interface ServiceOptions {
  /** Kept when the service stops; without one a temporary directory is made, and removed by `stop`. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: a free one. */
  readonly port?: number;
  /** Whose packages/server/dist/main.js it is; default: this repository. */
  readonly root?: string;
  /** What node runs in place of main.js, and with which arguments: an installed command. */
  readonly program?: readonly [file: string, ...args: string[]];
  /** Which node runs it; default: the one that runs this. */
  readonly node?: string;
  /** Of node, such as `--cpu-prof`. */
  readonly nodeOptions?: readonly string[];
}

export interface Service {
  /** `http://127.0.0.1:<port>`, also its APP_URL. */
  readonly base: string;
  readonly pid: number;
  /** Mails are files here. */
  readonly mailDir: string;
  /** What it printed so far. */
  readonly output: () => string;
  /** The same without standard error. */
  readonly stdout: () => string;
  /** SIGTERM; answers the exit code when the process is gone. */
  readonly stop: () => Promise<number | null>;
  /** SIGKILL; resolves when the process is gone. */
  readonly kill: () => Promise<void>;
}

/** The service ended instead of becoming ready. */
export class ServiceNotStarted extends Error {
  override readonly name = 'NotStarted';
  readonly exitCode: number | null;
  readonly output: string;

  constructor(exitCode: number | null, output: string) {
    super(`the service ended with ${exitCode} before it was ready:\n${output}`);
    this.exitCode = exitCode;
    this.output = output;
  }
}

/** Writes dist/main.js from the sources as they are now. */
export async function buildService(): Promise<void> {
  const [code] = (await once(
    spawn(process.execPath, ['scripts/run.mjs', '--build-only', 'packages/server/src/main.ts'], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: ownEnvironment(),
    }),
    'exit',
  )) as [number | null];
  if (code !== 0) throw new Error(`the build of packages/server/src/main.ts ended with ${code}`);
}

/**
 * A port of 127.0.0.1 that was free a moment ago. It lies below the ephemeral ports, which systems give to connections,
 * so that none takes it before the caller does. Until this process ends, no other call returns the same port, in any
 * process: a UDP socket of this number claims it, and leaves the TCP port free.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const claim = createSocket('udp4').unref();
    claim.bind(port, '127.0.0.1');
    if (!(await listens(claim))) continue;
    const server = createServer().listen(port, '127.0.0.1');
    if (await listens(server)) {
      await new Promise((closed) => server.close(closed));
      return port;
    }
    claim.close();
  }
}

/** Whether it listens; false: the port is taken or reserved. Any other error would come for every port. */
const listens = (socket: EventEmitter): Promise<boolean> =>
  once(socket, 'listening').then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') return false;
      throw error;
    },
  );

const children = new Set<{ kill: (signal: 'SIGKILL') => boolean }>();
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')));

const ownEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    ['PATH', 'HOME', 'TMPDIR', 'SystemRoot'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** Starts dist/main.js and waits until it is ready. @throws NotStarted when it ends first */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const port = options.port ?? (await freePort());
  const base = `http://127.0.0.1:${port}`;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'doorward-')));
  const mailDir = join(dataDir, 'mail');
  const home = options.root ?? root;
  const program = options.program ?? [join(home, 'packages/server/dist/main.js')];
  const child = spawn(
    options.node ?? process.execPath,
    ['--enable-source-maps', ...(options.nodeOptions ?? []), ...program],
    {
      cwd: home,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...ownEnvironment(),
        HOST: '127.0.0.1',
        PORT: String(port),
        APP_URL: base,
        DATA_DIR: dataDir,
        MAIL_PROVIDER: 'file',
        MAIL_FILE_DIR: mailDir,
        LOG_LEVEL: 'warn',
        ...options.env,
      },
    },
  );
  children.add(child);
  let output = '';
  let stdout = '';
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString();
    stdout += text.toString();
  });
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  let ended = false;
  // `close` and not `exit`: by then everything that it printed has arrived.
  const end = once(child, 'close').then(([code]) => {
    ended = true;
    children.delete(child);
    return code as number | null;
  });
  const tidy = async () => {
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };

  const deadline = performance.now() + 150_000;
  while (!(await isReady(base))) {
    if (ended) {
      await tidy();
      throw new ServiceNotStarted(await end, output);
    }
    if (performance.now() > deadline) {
      child.kill('SIGKILL');
      await end;
      await tidy();
      throw new Error(`the service was not ready in time:\n${output}`);
    }
    await sleep(25);
  }
  return {
    base,
    pid: child.pid ?? 0,
    mailDir,
    output: () => output,
    stdout: () => stdout,
    async stop() {
      child.kill('SIGTERM');
      const code = await end;
      await tidy();
      return code;
    },
    async kill() {
      child.kill('SIGKILL');
      await end;
      await tidy();
    },
  };
}

async function isReady(base: string): Promise<boolean> {
  try {
    const { status } = await fetch(`${base}/health/ready`, { signal: AbortSignal.timeout(2000) });
    return status === 200;
  } catch {
    return false;
  }
}

/** Tokens that were taken from a mail: each is used once. */
const taken = new Set<string>();

/**
 * The token in the newest mail to an address, each of them once. Mails arrive a moment after the answer that announces
 * them; until then the newest mail is the one before.
 */
export async function mailedToken(mailDir: string, address: string): Promise<string> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await sleep(50)) {
    const names = (await readdir(mailDir).catch(() => [])).filter((name) => name.endsWith('.eml'));
    for (const name of names.sort().reverse()) {
      const mail = await readFile(join(mailDir, name), 'utf8');
      const token = /[?&]token=([A-Za-z0-9_-]{43})/.exec(mail)?.[1];
      if (!token || !mail.includes(`To: ${address}\n`)) continue;
      if (taken.has(token)) break;
      taken.add(token);
      return token;
    }
  }
  throw new Error(`no mail to ${address} arrived in ${mailDir} within a minute`);
}

export interface Reply<D> {
  readonly status: number;
  readonly data: D;
  readonly text: string;
}

/** One call of the REST API. */
export async function call<D = Record<string, unknown>>(
  url: string,
  { token, body, method = body === undefined ? 'GET' : 'POST' }: CallOptions = {},
): Promise<Reply<D>> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, data: (JSON.parse(text) as { data: D }).data, text };
}

export interface CallOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly method?: string;
}

/** The data of a call that must succeed. */
export async function callOrThrow<D = { id: string }>(url: string, options?: CallOptions): Promise<D> {
  const { status, data, text } = await call<D>(url, options);
  if (status >= 400) throw new Error(`${url} answered ${status}: ${text}`);
  return data;
}

export interface SignedUp {
  readonly token: string;
  readonly userId: string;
  readonly accountId: string;
  readonly organizationId: string;
}

/** Creates a verified user who owns an organization. */
export async function signUp(
  { base, mailDir }: Pick<Service, 'base' | 'mailDir'>,
  name = 'ada',
): Promise<SignedUp> {
  const email = `${name}@example.test`;
  const registration = {
    provider: 'email',
    providerId: email,
    providerData: { password: 'three-lanterns-in-the-harbour' },
    type: 'organization',
  };
  const { accessToken, user, accounts } = await callOrThrow<{
    accessToken: string;
    user: { id: string };
    accounts: { id: string }[];
  }>(`${base}/api/auth/register`, { body: registration });
  await callOrThrow(`${base}/api/auth/verify-email`, { body: { token: await mailedToken(mailDir, email) } });
  const accountId = accounts[0]?.id ?? '';
  const organization = await callOrThrow(`${base}/api/organizations`, {
    token: accessToken,
    body: { scope: { tenant: 'account', id: accountId }, name: `${name} & co` },
  });
  return { token: accessToken, userId: user.id, accountId, organizationId: organization.id };
}
