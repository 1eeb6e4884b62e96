import { describe, expect, it } from 'vitest';
import { base32, matchingStep, newTotpSecret, otpauthUrl, stepAt, totpCode } from './totp.ts';

const secret = Buffer.from('12345678901234567890');
const at = (seconds: number) => new Date(seconds * 1000);

describe('a code', () => {
  // RFC 6238, appendix B: the last six of its eight digits.
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at second %d is that of RFC 6238', (second, code) => {
    expect(totpCode(secret, stepAt(at(second)))).toBe(code);
    expect(matchingStep(secret, code, at(second), null)).toBe(stepAt(at(second)));
  });

  it('is valid one step before and after its own, and no further', () => {
    const step = stepAt(at(1_000_000_000));
    const now = at(step * 30);
    for (const [offset, fits] of [
      [-2, false],
      [-1, true],
      [0, true],
      [1, true],
      [2, false],
    ] as const) {
      const match = matchingStep(secret, totpCode(secret, step + offset), now, null);
      expect(match, String(offset)).toBe(fits ? step + offset : null);
    }
  });

  it('is not valid for a step that is not later than the last one', () => {
    const now = at(1_000_000_000);
    const code = totpCode(secret, stepAt(now));
    expect(matchingStep(secret, code, now, stepAt(now) - 1)).toBe(stepAt(now));
    expect(matchingStep(secret, code, now, stepAt(now))).toBeNull();
  });

  it.each(['', '12345', '1234567', 'abcdef'])('is never %j', (code) => {
    expect(matchingStep(secret, code, at(59), null)).toBeNull();
  });
});

describe('a secret', () => {
  it('is shown in base 32', () => {
    expect(base32(secret)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
    expect(base32(newTotpSecret())).toMatch(/^[A-Z2-7]{32}$/);
  });

  it('is in a URL with issuer and account', () => {
    expect(otpauthUrl('My Corp', 'a@example.test', 'ABC')).toBe(
      'otpauth://totp/My%20Corp:a%40example.test?secret=ABC&issuer=My%20Corp&algorithm=SHA1&digits=6&period=30',
    );
  });
});
