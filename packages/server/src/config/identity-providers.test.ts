import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConfigError } from './config.ts';
import { loadConfig } from './config.ts';

const google = {
  key: 'google',
  name: 'Google',
  issuer: 'https://accounts.google.com',
  clientId: 'a client',
  clientSecret: 'a secret',
};

/** Returns the problems of an environment; empty if it loads. */
function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    return (error as ConfigError).problems;
  }
}

describe('identity providers', () => {
  it('have what the standard expects when nothing else is said', () => {
    const [provider] = loadConfig({ IDENTITY_PROVIDERS: JSON.stringify([google]) }).identityProviders;
    expect(provider).toEqual({
      ...google,
      scopes: ['openid', 'email', 'profile'],
      claims: { subject: 'sub', email: 'email', emailVerified: 'email_verified', name: 'name' },
      trustEmail: 'verified',
      allowSignUp: true,
    });
  });

  it('are read from a file, with the secret in another', () => {
    const directory = mkdtempSync(join(tmpdir(), 'providers-'));
    const [file, clientSecretFile] = [join(directory, 'providers.json'), join(directory, 'secret')];
    writeFileSync(clientSecretFile, 'kept apart\n');
    const { clientSecret: _, ...entry } = google;
    writeFileSync(file, JSON.stringify([{ ...entry, clientSecretFile }]));
    const [provider] = loadConfig({ IDENTITY_PROVIDERS_FILE: file }).identityProviders;
    expect(provider).toMatchObject({ key: 'google', clientSecret: 'kept apart' });
    rmSync(directory, { recursive: true });
  });

  it('come from one place, and no message repeats a secret', () => {
    const both = { IDENTITY_PROVIDERS: '[]', IDENTITY_PROVIDERS_FILE: '/nowhere' };
    expect(problemsOf(both).some((problem) => problem.includes('exclude each other'))).toBe(true);
    const wrong = JSON.stringify([{ ...google, clientSecret: 'hunter2', clientSecretFile: 'hunter2' }]);
    expect(problemsOf({ IDENTITY_PROVIDERS: wrong }).join(' ')).toMatch(/\[0\](?!.*hunter2)/);
  });

  it.each([
    ['IDENTITY_PROVIDERS', 'google'],
    ['IDENTITY_PROVIDERS', '{}'],
    ['IDENTITY_PROVIDERS', JSON.stringify(Array(21).fill(google))],
    ['IDENTITY_PROVIDERS', JSON.stringify([google, google])],
    ['IDENTITY_PROVIDERS_FILE', '/nowhere/providers.json'],
    ...[
      { key: 'G' },
      { key: 'email' },
      { issuer: 'http://accounts.google.com' },
      { issuer: 'https://accounts.google.com/?tenant=1' },
      { issuer: 'https://user:pass@accounts.google.com' },
      { clientSecret: undefined },
      { clientSecretFile: '/nowhere/secret' },
      { scopes: ['email'] },
      { scopes: ['openid email'] },
      { claims: { mail: 'email' } },
      { trustEmail: true },
      { secret: 'x' },
    ].map((wrong): [string, string] => ['IDENTITY_PROVIDERS', JSON.stringify([{ ...google, ...wrong }])]),
  ])('%s=%s is refused', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringContaining(name)]);
  });
});
