import { expect, it } from 'vitest';
import { hashOneTimeToken, newOneTimeToken } from './one-time-token.ts';

it('has 256 random bits in 43 characters that need no escaping in a link', () => {
  const tokens = Array.from({ length: 1000 }, newOneTimeToken);
  expect(new Set(tokens).size).toBe(1000);
  expect(tokens.every((token) => /^[\w-]{43}$/.test(token))).toBe(true);
});

it('is stored as SHA-256 of its text', () => {
  expect(hashOneTimeToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
