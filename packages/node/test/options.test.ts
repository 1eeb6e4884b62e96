import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { composeDoorward, processPorts } from '../src/doorward.ts';
import { ConfigError } from '../src/node.ts';
import { newApiKeySecret } from '../../server/src/crypto/tokens/secrets.ts';

/** Packages §2: options are checked at once, and errors name them without their values. */

const organization = '00000000-0000-4000-8000-000000000001';
const scope = { tenant: 'organizationProject', id: `${organization}:${organization}` } as const;
const url = 'https://doorward.example';
const clientId = '00000000-0000-4000-8000-00000000000a';
const clientSecret = `dwk_${'A'.repeat(46)}CHECKS`;

const compose = (options: object, env: Record<string, string> = {}) =>
  composeDoorward(options, { ...processPorts(), env });

function errorOf(options: object, env: Record<string, string> = {}): ConfigError {
  try {
    compose(options, env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('no error');
}

describe('options', () => {
  it.each<[string, object]>([
    ['url', {}],
    ['url', { url: 'doorward.example' }],
    ['url', { url: 'ftp://doorward.example' }],
    ['url', { url: 'http://doorward.example' }],
    ['url', { url: 'http://127.0.0.1.evil.example' }],
    ['url', { url: 'https://user:secret@doorward.example' }],
    ['url', { url: 'https://doorward.example/?x=1' }],
    ['tokn', { url, tokn: 'x' }],
    ['scope', { url, scope: { tenant: 'galaxy', id: organization } }],
    ['scope', { url, scope: { tenant: 'organizationProject', id: organization } }],
    ['scope', { url, clientId, clientSecret: `dwk_${'A'.repeat(46)}4dFg1D` }],
    ['clientSecret', { url, scope, clientId }],
    ['clientId', { url, scope, clientSecret }],
    ['clientSecret', { url, scope, clientId, clientSecret }],
    ['clientSecret', { url, scope, clientId, clientSecret: 'dwk_short' }],
    ['clientId', { url, scope, clientId: 'x', clientSecret }],
    ['token', { url, token: 5 }],
    ['token', { url, token: 'x', clientId }],
    ['timeoutMs', { url, timeoutMs: 99 }],
    ['timeoutMs', { url, timeoutMs: '5000' }],
    ['deadlineMs', { url, deadlineMs: 120_001 }],
    ['retries', { url, retries: 11 }],
    ['retries', { url, retries: 1.5 }],
    ['onUnavailable', { url, onUnavailable: 'allow' }],
    ['consistency', { url, consistency: 'eventual' }],
    ['clockToleranceSeconds', { url, clockToleranceSeconds: 61 }],
    ['fetch', { url, fetch: 'x' }],
    ['hooks', { url, hooks: 'x' }],
    ['language', { url, language: 'de\r\nx: y' }],
    ['local', { url, local: 'yes' }],
    ['local', { url, local: true }],
    ['local', { url, scope, local: true }],
    ['maxStalenessMs', { url, scope, token: 'a.b.c', local: { maxStalenessMs: 999 } }],
    ['users', { url, scope, token: 'a.b.c', local: { users: ['x'] } }],
    ['alow', { url, scope, token: 'a.b.c', local: { alow: true } }],
  ])('wrong: %s %#', (name, options) => {
    const error = errorOf(options);
    expect(error.code).toBe('CONFIG');
    expect(error.options).toContain(name);
    expect(error.message).toContain(name);
    expect(inspect(error)).not.toMatch(/dwk_[A-Z]{4}|secret@/);
  });

  it('come from the environment where they are left out', () => {
    const env = {
      DOORWARD_URL: `${url}/auth/`,
      DOORWARD_SCOPE: `OrganizationProject:${scope.id}`,
      DOORWARD_CLIENT_ID: '',
    };
    const doorward = compose({}, env);
    expect(doorward.url).toBe(`${url}/auth`);
    expect(doorward.scope).toEqual(scope);
    expect(compose({ url: 'https://other.example' }, env).url).toBe('https://other.example');
    expect(errorOf({}, { ...env, DOORWARD_SCOPE: 'x' }).options).toEqual(['scope']);
    expect(errorOf({}, { ...env, DOORWARD_CLIENT_ID: clientId }).options).toEqual(['clientSecret']);
  });

  it('allow http to loopback, and elsewhere by allowHttp', () => {
    for (const host of ['localhost:4000', '127.0.0.1', '[::1]:1'])
      expect(compose({ url: `http://${host}` }).url).toBe(`http://${host}`);
    expect(compose({ url: 'http://doorward.internal', allowHttp: true }).url).toBe(
      'http://doorward.internal',
    );
  });

  it('take every secret that the service makes', () => {
    for (let i = 0; i < 200; i++) {
      const made = newApiKeySecret();
      expect(compose({ url, scope, clientId, clientSecret: made }).url).toBe(url);
      const typo = `${made.slice(0, 20)}${made[20] === 'x' ? 'y' : 'x'}${made.slice(21)}`;
      expect(errorOf({ url, scope, clientId, clientSecret: typo }).options).toEqual(['clientSecret']);
    }
  });
});
