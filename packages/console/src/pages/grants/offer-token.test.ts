import { expect, it } from 'vitest';
import { tokenIn } from './offer-token.ts';

const token = 'abcdefghijklmnopqrstuvwxyz0123456789_-';

it.each([
  ['the token', token],
  ['the link to a page of the service', ` https://id.example/hosted/project-grant?token=${token}\n`],
  ['the link to an application', `https://app.example/project-grants/${token}`],
])('is found in %s', (_, text) => expect(tokenIn(text)).toBe(token));

it.each(['', 'short', 'https://id.example/', `${token} and more`])('is not found in %j', (text) =>
  expect(tokenIn(text)).toBeNull(),
);
