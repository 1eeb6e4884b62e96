import type { Command } from '../command.ts';
import type { Options } from '../settings/options.ts';
import { usageFault } from '../fault.ts';
import { askSecret, askText, readSecret } from '../input/prompt.ts';
import { visible } from '../output/text.ts';
import type { Run } from '../run.ts';
import type { Credential } from '../settings/profiles.ts';
import { scopeText } from '../settings/scope-text.ts';
import { sessionTokens } from '../service/tokens.ts';
import { beginAttempt, openBrowser } from './browser-sign-in.ts';
import { deviceSignIn, usesDevice } from './device-sign-in.ts';

export const login: Command = {
  path: ['login'],
  summary: 'Sign in with the browser, or store an API key',
  description:
    'The browser opens the sign-in pages of the service, with every way to sign in that it has, and asks whether this command line may have a session. Where there is no browser, and over SSH, it prints a code instead, which you enter in a browser anywhere. With --key the client id and the secret of an API key are stored, after they were tried; the scope is that of the key.',
  options: {
    '--key': 'store an API key; its secret comes from a hidden prompt or from stdin',
    '--client-id <id>': 'of the key',
    '--no-browser': 'only print the address, to open it on this computer',
    '--device': 'print a code to enter in a browser anywhere; so without a display, and over SSH',
  },
  examples: [
    'doorward login --url https://access.example.com',
    'doorward login --key --client-id <id> -s organizationProject:<organization>:<project> < secret.txt',
  ],
  async run(run, _args, options) {
    const { settings, terminal } = run;
    const profile = await settings.profileName();
    const url = await settings.url();
    const { credential, name, scope } = await signInBy(run, url, options);
    const former = await settings.profiles.changeCredential(profile, async (stored) => ({
      stored: credential,
      result: stored,
    }));
    if (former?.kind === 'session') await endSession(run, former);
    await settings.profiles.change((config) => ({
      ...config,
      current: config.current ?? profile,
      profiles: {
        ...config.profiles,
        [profile]: { ...config.profiles[profile], url, ...(scope ? { scope } : {}) },
      },
    }));
    terminal.answer(`Signed in to ${url} as ${visible(name)}, profile ${profile}.`, { url, profile, name });
  },
};

/** Ends a session whose tokens are no longer stored. If the request fails, the session ends by itself later. */
async function endSession({ connection }: Run, { url, refreshToken }: { url: string; refreshToken: string }) {
  const { api } = await connection.public(url);
  await api.logout({ refreshToken }).catch(() => undefined);
}

interface SignedIn {
  readonly credential: Credential;
  readonly name: string;
  readonly scope: string | undefined;
}

async function keySignIn(run: Run, url: string, given: string | undefined): Promise<SignedIn> {
  const { terminal, signal, connection } = run;
  const scope = await run.settings.namedScope();
  if (!scope) throw usageFault('A key is exchanged in its own scope, which is missing.', '-s <tenant>:<id>');
  terminal.stopSpinner();
  if (given === undefined && !terminal.canAsk)
    throw usageFault('Which key?', '--client-id <id>, and the secret on stdin');
  const clientId = given ?? (await askText(run, 'Client id: '));
  const clientSecret = await readSecret(run, 'Client secret');
  const { api } = await connection.public(url);
  await api.exchangeApiKey({ clientId, clientSecret, scope }, { signal });
  const credential = { kind: 'key', url, scope: scopeText(scope), clientId, clientSecret } as const;
  return { credential, name: `key ${clientId}`, scope: scopeText(scope) };
}

async function signInBy(run: Run, url: string, options: Options): Promise<SignedIn> {
  const [withKey, withDevice] = [options.flag('key'), options.flag('device')];
  const opens = options.flag('browser');
  if (withDevice && (withKey || !opens))
    throw usageFault('--device goes with neither --key nor --no-browser.');
  if (withKey) return keySignIn(run, url, options.text('clientId'));
  if (!withDevice && !(opens && usesDevice(run.env))) return browserSignIn(run, url, opens);
  return sessionOf(run, url, await deviceSignIn(run, url));
}

type SignIn = Awaited<ReturnType<typeof deviceSignIn>>;

async function sessionOf(run: Run, url: string, signIn: SignIn): Promise<SignedIn> {
  const credential = { kind: 'session', url, ...sessionTokens(signIn) } as const;
  if (signIn.mfaRequired) await secondFactor(run, url, signIn.accessToken);
  return { credential, name: signIn.user.email ?? signIn.user.name, scope: undefined };
}

async function browserSignIn(run: Run, url: string, opens: boolean): Promise<SignedIn> {
  const { terminal, signal, connection, env, log } = run;
  const attempt = await beginAttempt(url, signal);
  try {
    await assertOffered(attempt.address, log.fetch, signal);
    terminal.say(`Sign in here: ${attempt.address}`);
    if (opens) void openBrowser(attempt.address, env);
    const code = await attempt.code;
    const { api } = await connection.public(url);
    const signIn = await api.exchangeCliCode({ code, codeVerifier: attempt.codeVerifier });
    return await sessionOf(run, url, signIn);
  } finally {
    attempt.close();
  }
}

/** Checks that the service offers browser sign-in, because a browser couldn't report the refusal to this program. */
async function assertOffered(
  address: string,
  fetch: Run['log']['fetch'],
  signal: AbortSignal,
): Promise<void> {
  const { ConnectionError, ApiError } = await import('@doorward/node/client');
  const answer = await fetch(address, { redirect: 'manual', signal }).catch(() => {
    throw new ConnectionError('UNREACHABLE', 'The service was not reached.', { retryable: true });
  });
  if (answer.status === 303) return;
  const body = (await answer.json().catch(() => ({}))) as {
    code?: string;
    error?: string;
    requestId?: string;
  };
  throw new ApiError(body.code ?? 'BAD_ANSWER', body.error ?? 'The answer is not from the service.', {
    status: answer.status,
    requestId: body.requestId,
    fix: 'The service offers no sign-in in the browser to command lines: use doorward login --device, doorward login --key, or DOORWARD_TOKEN.',
  });
}

async function secondFactor(run: Run, url: string, token: string): Promise<void> {
  const { terminal, signal, connection, flags } = run;
  if (!terminal.canAsk)
    return terminal.say('The second factor is missing: doorward login on a terminal asks for it.');
  terminal.stopSpinner();
  const code = await askSecret(run, 'Code of your second factor: ');
  const { createClient } = await import('@doorward/node/client');
  const { api } = createClient({
    url,
    token,
    retries: 0,
    ...(flags.timeoutMs ? { timeoutMs: flags.timeoutMs } : {}),
  });
  await connection.public(url);
  await api.verifyMfa({ code }, { signal });
}
