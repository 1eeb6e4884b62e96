import { languages, type Language } from '../../languages.ts';

/** Limits the work for a hostile parameter. */
const maxLength = 1024;
const maxTags = 32;

/**
 * Returns the first language that the pages support, from BCP 47 tags separated by spaces (OpenID Connect Core
 * §3.1.2.1).
 */
export const languageOfLocales = (locales: string | undefined): Language | undefined =>
  (locales ?? '')
    .slice(0, maxLength)
    .split(' ', maxTags)
    .map((tag) => languages.find((language) => language === tag.toLowerCase().split('-')[0]))
    .find((language) => language !== undefined);
