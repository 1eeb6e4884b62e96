import { IntlMessageFormat } from 'intl-messageformat';
import { catalogue, detailMessages, type Code, type DetailCode } from '../errors.ts';
import { de } from './de.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';

/** The languages of errors, detail messages and mails (conventions §11); the first is the fallback. */
export const languages = ['en', 'de', 'es', 'fr'] as const;
export type Language = (typeof languages)[number];

interface Catalogue {
  readonly codes: Partial<Record<Code, string>>;
  readonly details: Partial<Record<DetailCode, string>>;
}

// A line that a translation lacks is English.
const catalogues: Record<Exclude<Language, 'en'>, Catalogue> = { de, es, fr };

type Format = (params: Readonly<Record<string, string | number>>) => string;

/** By language and code; each is compiled when it is first said, because a process says few of them. */
const formats = new Map<string, Format>();

function compile(language: Language, code: Code): Format {
  const english: string = catalogue[code].message;
  const line = (language === 'en' ? undefined : catalogues[language].codes[code]) ?? english;
  if (!line.includes('{')) return () => line;
  const message = new IntlMessageFormat(line, language, undefined, { ignoreTag: true });
  return (params) => {
    try {
      return String(message.format(params));
    } catch {
      // A hole without its value is a bug, but not one that may turn a 4xx into a 500.
      return line;
    }
  };
}

/** The message of a code with its holes filled. Never throws; codes themselves are never localized. */
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

/** The message of a detail code. */
export function translateDetail(language: Language, code: DetailCode): string {
  return (language === 'en' ? undefined : catalogues[language].details[code]) ?? detailMessages[code];
}

// Bounds the work on a hostile header; a browser sends about 60 characters.
const maxHeaderLength = 1024;
const maxRanges = 32;

const languageRange =
  /^\s*(\*|[a-z]{1,8})((?:-[a-z0-9]{1,8})*)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i;

/**
 * The language that an Accept-Language header asks for (RFC 9110 §12.5.4): highest q, then the order of the header; a
 * range matches by its first subtag (`de-AT` is German), `*` whatever is not named, `q=0` refuses a language.
 * English when nothing fits. Never throws: what cannot be read is skipped.
 */
export function pickLanguage(acceptLanguage: string | undefined): Language {
  if (!acceptLanguage) return 'en';
  const named = new Map<Language, number>();
  const refused = new Set<Language>();
  let any = 0;
  for (const range of acceptLanguage.slice(0, maxHeaderLength).split(',', maxRanges)) {
    const [, primary, subtags, weight] = languageRange.exec(range) ?? [];
    if (primary === undefined) continue;
    const quality = weight === undefined ? 1 : Number(weight);
    if (primary === '*') {
      any = Math.max(any, quality);
      continue;
    }
    const language = languages.find((known) => known === primary.toLowerCase());
    if (language === undefined) continue;
    if (quality > 0) named.set(language, Math.max(named.get(language) ?? 0, quality));
    // `de-AT;q=0` refuses Austrian German, not German.
    else if (subtags === '') refused.add(language);
  }
  // What is not named itself stands behind what is, in our own order.
  for (const language of languages) if (any > 0 && !named.has(language)) named.set(language, any);
  let best: Language | undefined;
  for (const [language, quality] of named) {
    if (!refused.has(language) && quality > (best === undefined ? 0 : (named.get(best) ?? 0)))
      best = language;
  }
  return best ?? 'en';
}
