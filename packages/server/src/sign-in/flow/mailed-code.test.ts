import { expect, it } from 'vitest';
import { isCodeOf, isLive, newCode, newMailedCode, typedCode } from './mailed-code.ts';

/** The code of a mail: what fits it, and for how long. */
const clock = { now: () => new Date('2026-11-25T12:00:00Z') };
const mailOf = (code: string | null) =>
  newMailedCode(clock, { address: 'ada@example.test', purpose: { name: 'signIn' }, code });

it('has six digits, also with zeros in front', () => {
  for (let i = 0; i < 2000; i += 1) expect(newCode()).toMatch(/^[0-9]{6}$/);
});

it('fits itself alone; where nothing was mailed, no code fits', () => {
  expect(isCodeOf(mailOf('012345'), '012345')).toBe(true);
  expect(isCodeOf(mailOf('012345'), '012346')).toBe(false);
  for (const code of ['000000', '012345', '999999']) expect(isCodeOf(mailOf(null), code)).toBe(false);
});

it('is read with the spaces of people and mail programs, and as nothing else', () => {
  for (const text of ['012345', ' 012 345 ', '012-345', '01\u200b2345'])
    expect(typedCode(text)).toBe('012345');
  for (const text of ['12345', '1234567', '12345a', '', '٠١٢٣٤٥']) expect(typedCode(text)).toBeNull();
});

it('lives for ten minutes and five wrong entries', () => {
  const mail = mailOf('012345');
  const at = (minutes: number) => ({ now: () => new Date(clock.now().getTime() + minutes * 60_000) });
  expect([isLive(mail, at(9.99)), isLive(mail, at(10))]).toEqual([true, false]);
  expect([4, 5].map((wrongEntries) => isLive({ ...mail, wrongEntries }, clock))).toEqual([true, false]);
});
