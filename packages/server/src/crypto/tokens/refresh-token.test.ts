import fc from 'fast-check';
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  firstRefreshToken,
  hashRefreshToken,
  isAuthentic,
  parseRefreshToken,
  successorOf,
} from './refresh-token.ts';

const keys = [randomBytes(32)];
const changed = [randomBytes(32), ...keys];
const strangers = [randomBytes(32)];

describe('a family', () => {
  it('names its session and counts its generations', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 0, max: 20 }), (sessionId, refreshes) => {
        let token = firstRefreshToken(keys, sessionId);
        for (let i = 0; i < refreshes; i += 1) token = successorOf(keys, token);
        expect(token).toMatch(/^dwr_[\w-]{91}$/);
        expect(parseRefreshToken(token)).toMatchObject({ sessionId, generation: refreshes });
        expect(isAuthentic(keys, token)).toBe(true);
      }),
    );
  });

  it('starts with a fresh secret', () => {
    const id = randomUUID();
    expect(firstRefreshToken(keys, id)).not.toBe(firstRefreshToken(keys, id));
  });

  it('has one successor of each token, which cannot be computed without the key', () => {
    const token = firstRefreshToken(keys, randomUUID());
    const successor = successorOf(keys, token);
    expect(successorOf([...keys], token)).toBe(successor);
    expect(successorOf(strangers, token)).not.toBe(successor);
    const secretOf = (text: string) => parseRefreshToken(text)?.bytes.subarray(20, 52).toString('hex');
    expect(secretOf(successor)).not.toBe(secretOf(token));
  });

  it('is recognized after a key rotation, and continues under the new key', () => {
    const token = firstRefreshToken(keys, randomUUID());
    expect(isAuthentic(changed, token)).toBe(true);
    const successor = successorOf(changed, token);
    expect(isAuthentic(changed, successor)).toBe(true);
    expect(isAuthentic(keys, successor)).toBe(false);
  });
});

describe('anything else', () => {
  it('is not authentic: another key, or any change of one character', () => {
    const token = firstRefreshToken(keys, randomUUID());
    expect(isAuthentic(strangers, token)).toBe(false);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let at = 0; at < token.length; at += 1) {
      for (const other of alphabet) {
        if (other === token[at]) continue;
        if (isAuthentic(keys, token.slice(0, at) + other + token.slice(at + 1))) {
          expect.fail(`a change at ${at} is accepted`);
        }
      }
    }
  });

  it.each(['', 'dwr_', 'dwr_' + 'A'.repeat(90), 'dwk_' + 'A'.repeat(91), 'dwr_' + 'A'.repeat(90) + '='])(
    'is not parsed: %j',
    (text) => {
      expect(parseRefreshToken(text)).toBeNull();
      expect(isAuthentic(keys, text)).toBe(false);
      expect(() => successorOf(keys, text)).toThrow(RangeError);
    },
  );

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => isAuthentic(keys, text) === false));
  });

  it('is rejected as session id or key', () => {
    expect(() => firstRefreshToken(keys, 'not-a-uuid')).toThrow(RangeError);
    expect(() => firstRefreshToken([], randomUUID())).toThrow(RangeError);
  });
});

it('is stored as SHA-256 of its text', () => {
  expect(hashRefreshToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
