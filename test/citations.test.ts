import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Each citation of the specification (docs/spec) and of the decisions (docs/decisions) names a section that exists. */

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const filesBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
    (name) => `${folder}/${name.replaceAll('\\', '/')}`,
  );

/** Without this file, whose patterns look like citations. */
const files = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['packages', 'scripts', 'bench', 'test', 'docs', 'examples'].flatMap(filesBelow),
]
  .filter((name) => /\.(?:ts|js|mjs|sql|md|graphql|py|yaml|json)$/.test(name))
  .filter((name) => !/(?:^|\/)(?:node_modules|dist)\//.test(name) && basename(name) !== 'citations.test.ts')
  .sort();

const pages = [
  'authorization',
  'identity',
  'conventions',
  'events',
  'model',
  'errors',
  'graphql',
  'rest',
  'configuration',
  'packages',
  'authzen',
  'policy-as-code',
  'openid',
  'sign-in-methods',
] as const;
type Page = (typeof pages)[number];
const fileOf = (page: Page): string => `docs/spec/${page}.md`;

/** Numbers of headings, and of numbered rules below them: rule 2 of section 9 is 9.2. */
function sectionsOf(page: Page): ReadonlySet<string> {
  const match = new Set<string>();
  let section = '';
  for (const line of read(fileOf(page)).split('\n')) {
    const heading = /^#+ (\d+(?:\.\d+)*)/.exec(line)?.[1];
    const rule = /^(?:\| (\d+) +\||(\d+)\. )/.exec(line);
    if (heading !== undefined) section = heading;
    const number = heading ?? (rule && section !== '' ? `${section}.${rule[1] ?? rule[2]}` : undefined);
    if (number !== undefined) match.add(number);
  }
  return match;
}
const sections = new Map(pages.map((page) => [page, sectionsOf(page)]));

const titlesOf = (page: Page): ReadonlySet<string> =>
  new Set([...read(fileOf(page)).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title));

const decisions = new Set(
  ['docs/decisions', 'docs/decisions/superseded'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => name.slice(0, 4)),
  ),
);

interface Found {
  /** `file:line: citation` */
  readonly where: string;
  readonly groups: Readonly<Record<string, string | undefined>>;
}

/** A comment continues after the mark of the next line, so a citation may be broken over two lines. */
const joined = (text: string): string =>
  text.replace(/\n[ \t]*(?:\*(?!\/)|\/\/|--|#)?[ \t]*/g, (mark) => ' '.repeat(mark.length));

const texts = files
  .map((file) => ({ file, text: read(file) }))
  .map((item) => ({ ...item, flat: joined(item.text) }));

function findAll(pattern: RegExp, among = texts): Found[] {
  return among.flatMap(({ file, text, flat }) =>
    [...flat.matchAll(pattern)].map((match) => ({
      where: `${file}:${text.slice(0, match.index).split('\n').length}: ${match[0].replace(/\s+/g, ' ')}`,
      groups: match.groups ?? {},
    })),
  );
}

const NUMBERS = String.raw`§+ *\d+(?:\.\d+)*(?:(?: *[–-] *|,? +and +|, +) *§ *\d+(?:\.\d+)*)*`;
const OF_PAGE = new RegExp(
  String.raw`\b(?<page>${pages.join('|')})(?:\.md)?,? +(?<numbers>${NUMBERS})`,
  'gi',
);
const OF_STANDARD = new RegExp(String.raw`\b(?:RFC|W3C|BCP|NIST|FIPS|OpenID)\b[^§\n]{0,60}${NUMBERS}`, 'g');

/** With the word before it, so that the line can be found. */
const BARE = /[^\s]* *§+ *[\d.]+/g;

const numbersIn = (text: string): string[] => [...text.matchAll(/\d+(?:\.\d+)*/g)].map(([number]) => number);
const isMissing = (page: Page, numbers: string): boolean =>
  numbersIn(numbers).some((number) => !sections.get(page)?.has(number));

const wheres = (match: readonly Found[]): string[] => match.map(({ where }) => where);

/** What is left of each text when citations of pages and of standards are taken out. */
const withoutKnown = texts.map((text) => ({
  ...text,
  flat: [OF_PAGE, OF_STANDARD].reduce(
    (flat, pattern) => flat.replace(pattern, (existing) => ' '.repeat(existing.length)),
    text.flat,
  ),
}));
const isPage = ({ file }: { readonly file: string }): boolean => file.startsWith('docs/spec/');

describe('citations', () => {
  it('of a page name a section that the page has', () => {
    const missing = findAll(OF_PAGE).filter(({ groups: { page = '', numbers = '' } }) =>
      isMissing(page.toLowerCase() as Page, numbers),
    );
    expect(wheres(missing)).toEqual([]);
  });

  it('within a page name a section of this page', () => {
    const missing = pages.flatMap((page) =>
      findAll(
        new RegExp(`(?<numbers>${NUMBERS})`, 'g'),
        withoutKnown.filter(({ file }) => file === fileOf(page)),
      ).filter(({ groups: { numbers = '' } }) => isMissing(page, numbers)),
    );
    expect(wheres(missing)).toEqual([]);
  });

  it('outside of the pages name the page or the standard', () => {
    const bare = findAll(
      BARE,
      withoutKnown.filter((item) => !isPage(item)),
    );
    expect(wheres(bare)).toEqual([]);
  });

  it('of a title name a section that the page has', () => {
    const pattern = new RegExp(String.raw`\b(?<page>${pages.join('|')})\.md "(?<title>[^"\n]+)"`, 'g');
    const missing = findAll(pattern).filter(
      ({ groups: { page, title = '' } }) => !titlesOf(page as Page).has(title),
    );
    expect(wheres(missing)).toEqual([]);
  });

  it('of a decision name one that was written', () => {
    const missing = findAll(/\bdecisions?[ /]+(?<number>\d{4})\b/gi).filter(
      ({ groups: { number = '' } }) => !decisions.has(number),
    );
    expect(wheres(missing)).toEqual([]);
  });

  it('refer to nothing outside of the repository', () => {
    expect(wheres(findAll(/\bbars? \d+/g))).toEqual([]);
  });

  it('are not in public texts', () => {
    const isReference = ({ file }: { readonly file: string }): boolean => file.startsWith('docs/reference/');
    const cited = findAll(OF_PAGE, texts.filter(isReference));
    const bare = findAll(BARE, withoutKnown.filter(isReference));
    expect(wheres([...cited, ...bare])).toEqual([]);
  });

  it('are found in lists, in ranges and across lines', () => {
    const match = (text: string) => {
      const [citation] = findAll(OF_PAGE, [{ file: 'x.ts', text, flat: joined(text) }]);
      return [citation?.where, ...numbersIn(citation?.groups['numbers'] ?? '')];
    };
    expect(match('// authorization §5, §8')).toEqual(['x.ts:1: authorization §5, §8', '5', '8']);
    expect(match('// identity §1–§5')).toEqual(['x.ts:1: identity §1–§5', '1', '5']);
    expect(match('/**\n * as conventions\n * §9.4).')).toEqual(['x.ts:2: conventions §9.4', '9.4']);
    expect(findAll(OF_PAGE).length).toBeGreaterThan(50);
  });

  it('resolve to headings and to numbered rules, and to nothing else', () => {
    expect(isMissing('authorization', '§10.4')).toBe(false);
    expect(isMissing('conventions', '§9.2')).toBe(false);
    expect(isMissing('conventions', '§9.99')).toBe(true);
    expect(isMissing('identity', '§1–§99')).toBe(true);
  });
});
