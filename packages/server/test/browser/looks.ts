import { languages } from '../../src/languages.ts';

/**
 * A look of a page: language, color scheme, and phone or desktop. `npm run test:browser` shows each page in one look.
 * The look rotates from page to page, so that several pages together cover every pair of language, scheme and width.
 * The project `browser-exhaustive` shows each page in every look.
 */
interface Look {
  readonly locale: (typeof languages)[number];
  readonly colorScheme: 'light' | 'dark';
  readonly isPhone: boolean;
}

const colorSchemes = ['light', 'dark'] as const;

/** Together, these looks cover every pair of values. */
const pairs: readonly Look[] = colorSchemes.flatMap((colorScheme, scheme) =>
  languages.map((locale, language) => ({ locale, colorScheme, isPhone: (scheme + language) % 2 === 1 })),
);

const all: readonly Look[] = pairs.flatMap((look) => [look, { ...look, isPhone: !look.isPhone }]);

/** True if this run shows each page in every look. */
export const isExhaustive = process.env['BROWSER_LOOKS'] === 'all';

/** The looks to test for the page with this number. */
export const looksOf = (page: number): readonly Look[] =>
  isExhaustive ? all : pairs.slice(page % pairs.length).slice(0, 1);

/** The color schemes to test for the page with this number, where the language doesn't matter. */
export const colorSchemesOf = (page: number): readonly Look['colorScheme'][] =>
  isExhaustive ? colorSchemes : colorSchemes.slice(page % 2).slice(0, 1);

export const lookName = ({ locale, colorScheme, isPhone }: Look): string =>
  `${locale}, ${colorScheme}${isPhone ? ', phone' : ''}`;
