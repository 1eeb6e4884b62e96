import { languages } from '../../src/i18n/translate.ts';

/**
 * The looks of a page: language, colour scheme, and a phone or not. A run of `npm run test:browser` shows each page in one look,
 * and the pages take turns, so that many pages show each pair of a language, a scheme and a width. The project
 * `browser-exhaustive` shows each page in all of them.
 */
interface Look {
  readonly locale: (typeof languages)[number];
  readonly colorScheme: 'light' | 'dark';
  readonly isPhone: boolean;
}

const colorSchemes = ['light', 'dark'] as const;

/** Every pair of two values is in one of these looks. */
const pairs: readonly Look[] = colorSchemes.flatMap((colorScheme, scheme) =>
  languages.map((locale, language) => ({ locale, colorScheme, isPhone: (scheme + language) % 2 === 1 })),
);

const all: readonly Look[] = pairs.flatMap((look) => [look, { ...look, isPhone: !look.isPhone }]);

/** Whether this run shows each page in every look. */
export const isExhaustive = process.env['BROWSER_LOOKS'] === 'all';

/** The looks in which to show the page with this number. */
export const looksOf = (page: number): readonly Look[] =>
  isExhaustive ? all : pairs.slice(page % pairs.length).slice(0, 1);

/** The colour schemes and widths of `looksOf`, for a page whose language is not the subject. */
export const colorSchemesOf = (page: number): readonly Look['colorScheme'][] =>
  isExhaustive ? colorSchemes : colorSchemes.slice(page % 2).slice(0, 1);

export const lookName = ({ locale, colorScheme, isPhone }: Look): string =>
  `${locale}, ${colorScheme}${isPhone ? ', phone' : ''}`;
