import { IntlMessageFormat } from 'intl-messageformat';
import { catalogue, detailMessages, type Code, type DetailCode } from '../errors.ts';
import { de } from './de.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { languages, type Language } from '../languages.ts';

interface Catalogue {
  readonly codes: Partial<Record<Code, string>>;
  readonly details: Partial<Record<DetailCode, string>>;
}

// A message without a translation is shown in English.
const catalogues: Record<Exclude<Language, 'en'>, Catalogue> = { de, es, fr };

type Format = (params: Readonly<Record<string, string | number>>) => string;

/** Compiled messages by language and code. They are compiled on first use, because a process needs only a few. */
const formats = new Map<string, Format>();

function compile(language: Language, code: Code): Format {
  const english: string = catalogue[code].message;
  const text = (language === 'en' ? undefined : catalogues[language].codes[code]) ?? english;
  if (!text.includes('{')) return () => text;
  const message = new IntlMessageFormat(text, language, undefined, { ignoreTag: true });
  return (params) => {
    try {
      return String(message.format(params));
    } catch {
      // A placeholder without a value is a bug, but it must not turn a 4xx into a 500.
      return text;
    }
  };
}

/** Returns the message of a code with its placeholders filled. Never throws. */
export function translateCode(
  language: Language,
  code: Code,
  params: Readonly<Record<string, string | number>> = {},
): string {
  const key = `${language} ${code}`;
  const format = formats.get(key) ?? compile(language, code);
  formats.set(key, format);
  return format(params);
}

/** Returns the message of a detail code. */
export function translateDetail(language: Language, code: DetailCode): string {
  return (language === 'en' ? undefined : catalogues[language].details[code]) ?? detailMessages[code];
}

// These limits bound the work on a hostile header; a browser sends about 60 characters.
const maxHeaderLength = 1024;
const maxRanges = 32;

const languageRange =
  /^\s*(\*|[a-z]{1,8})((?:-[a-z0-9]{1,8})*)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i;

/**
 * Returns the language that an Accept-Language header prefers (RFC 9110 §12.5.4): the highest q, then the first in the
 * header. A range matches by its first subtag (`de-AT` is German), `*` matches every language without a range of its
 * own, and `q=0` rejects a language. Returns English if no language matches. Skips invalid ranges, and never throws.
 */
export function pickLanguage(acceptLanguage: string | undefined): Language {
  if (!acceptLanguage) return 'en';
  const qualities = new Map<Language, number>();
  const rejected = new Set<Language>();
  let wildcardQuality = 0;
  for (const range of acceptLanguage.slice(0, maxHeaderLength).split(',', maxRanges)) {
    const [, primary, subtags, weight] = languageRange.exec(range) ?? [];
    if (primary === undefined) continue;
    const quality = weight === undefined ? 1 : Number(weight);
    if (primary === '*') {
      wildcardQuality = Math.max(wildcardQuality, quality);
      continue;
    }
    const language = languages.find((language) => language === primary.toLowerCase());
    if (language === undefined) continue;
    if (quality > 0) qualities.set(language, Math.max(qualities.get(language) ?? 0, quality));
    // `de-AT;q=0` rejects Austrian German, not German.
    else if (subtags === '') rejected.add(language);
  }
  // The languages that `*` matches come after those with a range, in the order of `languages`.
  for (const language of languages) {
    if (wildcardQuality > 0 && !qualities.has(language)) qualities.set(language, wildcardQuality);
  }
  let best: Language | undefined;
  for (const [language, quality] of qualities) {
    if (!rejected.has(language) && quality > (best === undefined ? 0 : (qualities.get(best) ?? 0)))
      best = language;
  }
  return best ?? 'en';
}
