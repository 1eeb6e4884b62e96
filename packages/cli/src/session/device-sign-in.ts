import { setTimeout as pause } from 'node:timers/promises';
import { exitCodes } from '../exit-codes.ts';
import { Fault } from '../fault.ts';
import { visible } from '../output/text.ts';
import type { Run } from '../run.ts';
import { hasBrowser } from './browser-sign-in.ts';

/* Sign-in without a browser on this computer (after RFC 8628): the user enters a code in a browser elsewhere. */

/** Whether to sign in with a code: there is no browser here, or (over SSH) it wouldn't open in front of the user. */
export function usesDevice(env: Run['env']): boolean {
  if (env['BROWSER']) return false;
  return Boolean(env['SSH_CONNECTION'] || env['SSH_TTY']) || !hasBrowser(env);
}

const LONGER_SECONDS = 5;

/** Signs in with a code. @throws Fault if the user refuses, or doesn't decide in time */
export async function deviceSignIn({ connection, terminal, signal }: Run, url: string) {
  const { api } = await connection.public(url);
  const { ApiError, ConnectionError } = await import('@doorward/node/client');
  const begun = await api.startDeviceSignIn({}, { signal }).catch((error: unknown) => {
    throw error instanceof ApiError && error.status === 404 ? notOffered() : error;
  });
  const { deviceCode, userCode, verificationUri, expiresIn } = begun;
  terminal.say(`Open ${visible(verificationUri)} in a browser and enter the code ${visible(userCode)}`);
  terminal.say('Sign in there only if the page shows the same code.');
  const until = performance.now() + expiresIn * 1000;
  let seconds = begun.interval;
  while (performance.now() < until) {
    await pause(seconds * 1000, undefined, { signal });
    try {
      const { status, signIn } = await api.exchangeDeviceCode({ deviceCode }, { signal });
      if (signIn) return signIn;
      if (status === 'slowDown') seconds += LONGER_SECONDS;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'INVALID_TOKEN') throw refused();
      // The code stays valid while the service restarts or is busy, so polling continues.
      const isBusy = error instanceof ApiError && (error.status === 429 || (error.status ?? 0) >= 500);
      if (signal.aborted || !(isBusy || error instanceof ConnectionError)) throw error;
    }
  }
  throw refused();
}

const notOffered = (): Fault =>
  new Fault(
    exitCodes.notFound,
    'NOT_FOUND',
    'The service has no sign-in with a code.',
    'doorward login --no-browser, or doorward login --key',
  );
const refused = (): Fault =>
  new Fault(
    exitCodes.notSignedIn,
    'NOT_SIGNED_IN',
    'The sign-in was refused in the browser, or the code has expired.',
    'doorward login again',
  );
