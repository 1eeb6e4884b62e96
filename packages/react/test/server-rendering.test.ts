import { createBrowserClient } from '@doorward/browser';
import { Can, DoorwardProvider, SignedIn, SignedOut, useCan, useSession } from '@doorward/react';
import { createElement, type ReactNode } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';

const options = {
  issuer: 'https://doorward.example/acc/a/prj/p',
  clientId: 'app',
  redirectUri: 'https://app.example/callback',
};
const client = createBrowserClient(options);

const rendered = (...children: ReactNode[]): string =>
  renderToString(createElement(DoorwardProvider, { client }, ...children));

test('a server renders what is pending, and no children', () => {
  const pending = 'wait;';
  const Shown = () =>
    JSON.stringify([useSession(), useCan('order:read'), useCan('order:edit', { resource: {} })]);
  const html = rendered(
    createElement(SignedIn, { pending }, 'in'),
    createElement(SignedOut, { pending }, 'out'),
    createElement(Can, { permission: 'order:read', pending, fallback: 'no' }, 'yes'),
    createElement(
      Can,
      { permission: 'order:read', context: { resource: {} }, pending, fallback: 'no' },
      'yes',
    ),
  );
  expect(html.replaceAll('<!-- -->', '')).toBe('wait;'.repeat(4));
  expect(rendered(createElement(SignedIn), createElement(SignedOut))).toBe('');
  const allowance = { allowed: false, pending: true, error: null };
  expect(JSON.parse(rendered(createElement(Shown)).replaceAll('&quot;', '"'))).toEqual([
    { status: 'loading' },
    allowance,
    allowance,
  ]);
});

test('a component outside of the provider says what is missing', () => {
  expect(() => renderToString(createElement(SignedIn))).toThrow('DoorwardProvider');
});

test('a client on a server has no session, and refuses to start or sign in', async () => {
  expect([client.session, client.can('order:read'), client.state('order:read')]).toEqual([
    { status: 'loading' },
    false,
    'unknown',
  ]);
  await expect(client.signIn()).rejects.toMatchObject({ code: 'CONFIG' });
  await expect(createBrowserClient(options).start()).rejects.toMatchObject({ code: 'CONFIG' });
});

test.each([
  ['issuer', { issuer: 'http://doorward.example/acc/a/prj/p' }],
  ['issuer', { issuer: 'https://doorward.example' }],
  ['issuer', { issuer: undefined }],
  ['clientId', { clientId: '' }],
  ['redirectUri', { redirectUri: '/callback' }],
  ['redirectUri', { redirectUri: 'https://app.example/callback#x' }],
  ['scopes', { scopes: 'order:read' }],
  ['scopes', { scopes: ['order'] }],
  ['origins', { origins: ['https://api.example/v1'] }],
  ['origins', { origins: ['*'] }],
  ['origins', { origins: ['http://api.example'] }],
  ['clientSecret', { clientSecret: 'x' }],
])('a wrong option is named: %s', (name, change) => {
  const wrong = { ...options, ...change } as unknown as typeof options;
  expect(() => createBrowserClient(wrong)).toThrow(
    expect.objectContaining({ code: 'CONFIG', message: expect.stringContaining(name) as string }) as Error,
  );
});
