import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passwordProblems } from './password-policy.ts';

const problems = (password: string, identity = {}, minLength = 12) =>
  passwordProblems(password, { minLength, identity });

describe('length', () => {
  it('is 12 to 128 code points, of any character', async () => {
    expect(await problems('kz9 vw2-m7x')).toEqual(['too_short']);
    expect(await problems('kz9 vw2-m7xq')).toEqual([]);
    expect(await problems('🦊'.repeat(11))).toEqual(['too_short']);
    expect(await problems('🦊'.repeat(128))).toEqual([]);
    expect(await problems('🦊'.repeat(129))).toEqual(['too_long']);
  });

  it('counts the normalized form: composed and decomposed characters are equal', async () => {
    expect(await problems('u\u0308'.repeat(11))).toEqual(['too_short']);
    expect(await problems('u\u0308'.repeat(128))).toEqual([]);
  });

  it('follows the configured minimum', async () => {
    expect(await problems('kz9 vw2-', {}, 8)).toEqual([]);
  });
});

describe('content', () => {
  it.each(['1qaz2wsx3edc', 'Administrator', 'qwerty123456', '123456789012', 'ｐassword1234'])(
    'refuses the common password %s',
    async (password) => {
      expect(await problems(password)).toEqual(['password_too_common']);
    },
  );

  it('rejects NUL', async () => {
    expect(await problems('kz9 vw2-m7x\0q')).toEqual(['not_allowed']);
  });

  const identity = { email: 'Jane.Roe@example.com', name: 'Jane Q. Roe' };
  it.each([
    'jane.roe@example.com',
    'xx-JANE.ROE-77-xx',
    'hello jane q. roe!',
    'helloJaneQ.Roe!',
    'my-DoorWard-key-5',
    'my-ｄoorward-key-5',
  ])('refuses %s because of who the user is', async (password) => {
    expect(await problems(password, identity)).toEqual(['password_contains_identity']);
  });

  it('ignores short names and local parts', async () => {
    expect(await problems('ann is not a hint', { email: 'ann@example.com', name: 'Ann' })).toEqual([]);
    expect(await problems('ann@example.com-77', { email: 'ann@example.com' })).toEqual([
      'password_contains_identity',
    ]);
    expect(await problems('kz9 vw2-m7xq', { email: null, name: null })).toEqual([]);
    expect(await problems('kz9 vw2-m7xq', { email: '', name: '  ' })).toEqual([]);
  });

  it('answers all reasons', async () => {
    expect(await problems('password', { email: 'password@example.com' })).toEqual([
      'too_short',
      'password_too_common',
      'password_contains_identity',
    ]);
  });

  it('has no composition rules: random passwords pass', async () => {
    const random = fc.string({ unit: fc.constantFrom(...'bcdfghkmnp'), minLength: 16, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(random, async (password) => {
        expect(await problems(password)).toEqual([]);
      }),
    );
  });
});
