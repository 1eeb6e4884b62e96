import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canaryOpens, createKek, makeCanary, SealError } from './kek.ts';

const first = randomBytes(32);
const second = randomBytes(32);
const kek = createKek({ current: first, old: [] });
const changed = createKek({ current: second, old: [first] });
const stranger = createKek({ current: randomBytes(32), old: [] });

function reasonOf(open: () => unknown): string {
  try {
    open();
  } catch (error) {
    if (error instanceof SealError) return error.reason;
    throw error;
  }
  return 'opened';
}

describe('seal and open', () => {
  it('return the same bytes under the same aad, also after a key rotation', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), fc.string(), (bytes, aad) => {
        const sealed = kek.seal(Buffer.from(bytes), aad);
        expect(sealed).toMatch(/^v1\.[\w-]{8}\.[\w-]+$/);
        expect(kek.open(sealed, aad)).toEqual(Buffer.from(bytes));
        expect(changed.open(sealed, aad)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('never seal twice to the same text', () => {
    expect(kek.seal('secret', 'a')).not.toBe(kek.seal('secret', 'a'));
  });

  it('reject another row, another key and any other text', () => {
    const sealed = kek.seal('secret', 'keys:1');
    expect(reasonOf(() => kek.open(sealed, 'keys:2'))).toBe('tampered');
    expect(reasonOf(() => stranger.open(sealed, 'keys:1'))).toBe('unknownKey');
    expect(reasonOf(() => kek.open('', 'keys:1'))).toBe('malformed');
    expect(reasonOf(() => kek.open(sealed.slice(0, 20), 'keys:1'))).toBe('malformed');
    expect(reasonOf(() => kek.open(`v2${sealed.slice(2)}`, 'keys:1'))).toBe('malformed');
  });

  it('reject every change of one character', () => {
    const sealed = kek.seal('a secret of some length', 'row');
    for (let at = 0; at < sealed.length; at += 1) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      expect(reasonOf(() => kek.open(sealed.slice(0, at) + other + sealed.slice(at + 1), 'row'))).not.toBe(
        'opened',
      );
    }
  });

  it('recognize text that was sealed under an old key', () => {
    expect(changed.isCurrent(kek.seal('x', 'a'))).toBe(false);
    expect(changed.isCurrent(changed.seal('x', 'a'))).toBe(true);
  });
});

describe('derived keys', () => {
  it('are 32 bytes, stable, and differ by label and key', () => {
    expect(kek.derive('a')).toHaveLength(32);
    expect(kek.derive('a')).toEqual(createKek({ current: first, old: [] }).derive('a'));
    expect(kek.derive('a')).not.toEqual(kek.derive('b'));
    expect(kek.derive('a')).not.toEqual(stranger.derive('a'));
    expect(kek.derive('a')).not.toEqual(first);
  });

  it('exist for all keys, the current key first', () => {
    expect(changed.deriveAll('a')).toEqual([changed.derive('a'), kek.derive('a')]);
  });

  it('need keys of 32 bytes', () => {
    expect(() => createKek({ current: randomBytes(16), old: [] })).toThrow(RangeError);
    expect(() => createKek({ current: first, old: [randomBytes(33)] })).toThrow(RangeError);
  });
});

describe('the canary', () => {
  it('opens under its key, as current or old, and under no other', () => {
    const canary = makeCanary(kek);
    expect(canaryOpens(kek, canary)).toBe(true);
    expect(canaryOpens(changed, canary)).toBe(true);
    expect(canaryOpens(stranger, canary)).toBe(false);
    expect(canaryOpens(kek, 'nonsense')).toBe(false);
  });
});
