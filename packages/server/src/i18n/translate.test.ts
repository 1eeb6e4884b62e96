import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leastToll } from '../../test/support/app/event-loop.ts';
import { catalogue, detailMessages, type Code, type DetailCode } from '../errors.ts';
import { de } from './de.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { languages } from '../languages.ts';
import { pickLanguage, translateCode, translateDetail } from './translate.ts';

/** Clients recognize this message by its text, so it is not translated. */
const forPrograms: readonly Code[] = ['PERSISTED_QUERY_NOT_SUPPORTED'];
const codes = (Object.keys(catalogue) as Code[]).filter((code) => !forPrograms.includes(code));
const details = Object.keys(detailMessages) as DetailCode[];
const placeholdersOf = (line: string) => [...line.matchAll(/\{(\w+)/g)].map(([, name = '']) => name).sort();

describe.each(Object.entries({ de, es, fr }))('%s', (language, lines) => {
  it.each(codes)('%s is translated, with the same placeholders', (code) => {
    const english: string = catalogue[code].message;
    expect(lines.codes[code]).toBeDefined();
    expect(lines.codes[code]).not.toBe(english);
    expect(placeholdersOf(lines.codes[code] ?? '')).toEqual(placeholdersOf(english));
  });

  it.each(details)('%s is translated, without placeholders', (code) => {
    expect(lines.details[code]).toBeDefined();
    expect(lines.details[code]).not.toBe(detailMessages[code]);
    expect(lines.details[code]).not.toMatch(/[{}]/);
  });

  it('translates nothing that is not in the catalogue', () => {
    expect(Object.keys(lines.codes)).toEqual(codes);
    expect(Object.keys(lines.details)).toEqual(details);
  });

  it('has a full stop, no straight quotes and no wrong space', () => {
    for (const line of [...Object.values(lines.codes), ...Object.values(lines.details)]) {
      expect(line).toMatch(/^\p{Lu}.*[^\s]\.$/u);
      expect(line).not.toMatch(/['"]|\s\s| [;:!?»]|« /u);
      if (language === 'fr') expect(line).not.toMatch(/[^\s];|[^\s]:/u);
    }
  });
});

describe('translateCode', () => {
  it.each(languages)('fills every placeholder of every code in %s', (language) => {
    for (const code of codes) {
      const placeholders = placeholdersOf(catalogue[code].message);
      const params = Object.fromEntries(placeholders.map((name, index) => [name, `d'${index}<b>{x}`]));
      const message = translateCode(language, code, params);
      for (const value of Object.values(params)) expect(message).toContain(value);
      expect(message.replaceAll(/\{x\}/g, '')).not.toMatch(/[{}]/);
    }
  });

  it('writes numbers without grouping', () => {
    expect(translateCode('en', 'RATE_LIMITED', { seconds: 3600 })).toBe(
      'Too many requests; retry in 3600 seconds.',
    );
    expect(translateCode('fr', 'RATE_LIMITED', { seconds: 3600 })).toContain('3600');
  });

  it('keeps apostrophes', () => {
    expect(translateCode('fr', 'INVALID_STATE', { state: 'revoked' })).toBe(
      'Impossible dans l’état revoked.',
    );
  });

  it('does not throw for a placeholder without a value', () => {
    expect(translateCode('de', 'INVALID_STATE')).toBe('Im Zustand {state} nicht möglich.');
  });
});

it('translates detail codes', () => {
  expect(translateDetail('en', 'required')).toBe('This field is required.');
  expect(translateDetail('de', 'required')).toBe('Dieses Feld ist erforderlich.');
});

describe('pickLanguage', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['DE-at', 'de'],
    ['de-Latn-AT-1996', 'de'],
    ['it, fr;q=0.8, de;q=0.9', 'de'],
    ['fr;q=0.5, es;q=0.5', 'fr'],
    ['en-US,en;q=0.9,fr;q=0.8', 'en'],
    ['de-AT;q=0.3, es;q=0.5, de;q=0.9', 'de'],
    ['*', 'en'],
    ['it, *;q=0.5', 'en'],
    ['*, fr;q=0.1', 'en'],
    ['en;q=0.2, *;q=0.5', 'de'],
    ['en;q=0, *', 'de'],
    ['de;q=0, *;q=0.1, en;q=0', 'es'],
    ['de-AT;q=0, de', 'de'],
    ['de;q=0', 'en'],
    ['*;q=0', 'en'],
    ['it', 'en'],
    ['deu', 'en'],
    [' fr ; q = 0.7 ', 'fr'],
    ['fr;q=2, es;q=0.1', 'es'],
    ['fr;q=abc, es', 'es'],
    ['fr;level=1, es', 'es'],
    [';;;,,,q=1', 'en'],
    ['__proto__, constructor', 'en'],
  ])('%j → %s', (header, expected) => expect(pickLanguage(header)).toBe(expected));

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (header) => {
        expect(languages).toContain(pickLanguage(header));
      }),
    );
  });

  it('does bounded work on long headers', async () => {
    const units = ['de;q=0.5,', 'a-', ' ', ',', 'de-abcdefgh'];
    const { blockedMs } = await leastToll(5000, () =>
      Promise.resolve(units.map((unit) => pickLanguage(unit.repeat(1_000_000)))),
    );
    expect(blockedMs).toBeLessThan(5000);
    expect(pickLanguage(`de,${' '.repeat(100_000)}`)).toBe('de');
  });
});
