import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Credentials, SessionState } from '../access/credentials/credentials.ts';
import { signJwt } from '../crypto/tokens/jwt.ts';
import { keysTopic, type Keyring } from '../crypto/keys/keyring.ts';
import type { Changes } from '../db/cache/changes.ts';
import { createAuthenticate } from './authenticate.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const URL = 'https://auth.example.com';
const TENANT = 'system';
const now = new Date('2026-01-01T00:00:00Z');
const seconds = now.getTime() / 1000;

const alive: SessionState = {
  kind: 'browser',
  userId: 'ada',
  name: 'Ada',
  emailVerified: true,
  verificationDeadline: null,
  acr: 'aal1',
  mfaPending: false,
  authenticatedAt: now,
  expiresAt: new Date(now.getTime() + 1e9),
  overdueFrom: null,
  alive: true,
  app: null,
  boundTo: null,
  impersonator: null,
  impersonatorSessionId: null,
};

/** One topic is enough here: whatever changes, everything loaded before is stale. */
function changesOf() {
  let moment = 1;
  return {
    now: () => moment,
    isFresh: (loadedAt: number) => loadedAt === moment,
    isTrusted: () => true,
    apply: () => void moment++,
  } as unknown as Changes;
}

function authenticating(meanwhile: () => void = () => undefined) {
  const changes = changesOf();
  let read = 0;
  const keyring = {
    verification: async () => {
      read++;
      return { publicKey, issuer: URL, tenantId: TENANT, types: ['session'] };
    },
  } as unknown as Keyring;
  const credentials = { session: () => alive } as unknown as Credentials;
  const authenticate = createAuthenticate({
    operatorNetworks: [],
    keyring,
    credentials,
    changes,
    clock: {
      now: () => {
        meanwhile();
        return now;
      },
    },
    audience: URL,
  });
  return { authenticate, changes, read: () => read };
}

const tokenOf = (more: object = {}) =>
  signJwt(privateKey, 'k1', {
    sub: 'ada',
    jti: 'session-1',
    iss: URL,
    aud: URL,
    type: 'session',
    iat: seconds,
    exp: seconds + 900,
    ...more,
  });

it('verifies a token once, as long as its key does not change', async () => {
  const { authenticate, changes, read } = authenticating();
  const header = `Bearer ${await tokenOf()}`;
  for (let call = 0; call < 3; call++) expect(await authenticate(header, '')).toMatchObject({ ok: true });
  expect(read()).toBe(1);
  changes.apply([keysTopic(TENANT)]);
  expect(await authenticate(header, '')).toMatchObject({ ok: true });
  expect(read()).toBe(2);
});

it('does not keep what was verified while the key changed', async () => {
  let once = false;
  const { authenticate, changes, read } = authenticating(() => {
    // Asked for the time of verification: the key has been read by now, and its revocation arrives.
    if (!once) changes.apply([keysTopic(TENANT)]);
    once = true;
  });
  const header = `Bearer ${await tokenOf()}`;
  await authenticate(header, '');
  await authenticate(header, '');
  expect(read()).toBe(2);
});

it('takes no other token for one that it knows, though both end alike', async () => {
  const { authenticate } = authenticating();
  const good = await tokenOf();
  expect(await authenticate(`Bearer ${good}`, '')).toMatchObject({ ok: true });
  const [head = '', , signature = ''] = good.split('.');
  const [, claims = ''] = (await tokenOf({ sub: 'eve' })).split('.');
  const forged = `Bearer ${head}.${claims}.${signature}`;
  for (let call = 0; call < 2; call++) {
    expect(await authenticate(forged, '')).toEqual({ ok: false, reason: 'invalid' });
  }
  const together = [forged, `Bearer ${good}`, `bearer ${good}`].map(async (header) =>
    authenticate(header, ''),
  );
  expect((await Promise.all(together)).map(({ ok }) => ok)).toEqual([false, true, true]);
});

it('takes a token in other spellings too, and keeps none of them', async () => {
  const { authenticate, read } = authenticating();
  const token = await tokenOf();
  for (let call = 1; call <= 3; call++) {
    expect(await authenticate(`Bearer  ${token}`, '')).toMatchObject({ ok: true });
    expect(read()).toBe(call);
  }
});
