import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileCondition } from '@doorward/decision';
import { describe, expect, it } from 'vitest';
import { serveOwnApp } from '../packages/node/test/support/service.ts';
import type { TestApp } from '../packages/server/test/support/app/app.ts';
import { comparable, runPage, type EarlierPage } from './support/page-shell.ts';

/** The samples of the pages that teach run as they are printed, against the real service, and print what the page shows. */
const root = join(import.meta.dirname, '..');
const start = 'docs/getting-started.md';
const helpers = 'docs/concepts/README.md';

const concepts = readdirSync(join(root, 'docs/concepts'))
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .map((name) => `docs/concepts/${name}`);
const guides = ['b2b-product', 'customers', 'nginx', 'machine-onboarding', 'support-runbook'].map(
  (name) => `docs/guides/${name}.md`,
);

/** Getting started without the parts that need PostgreSQL or another process. */
const firstCheck = { page: start, until: '\n## Policy tests' };

const guide = (name: string): EarlierPage => ({ page: `docs/guides/${name}.md` });

/** Guides that continue where another one ended. */
const earlier: Readonly<Record<string, readonly EarlierPage[]>> = {
  'docs/guides/customers.md': [{ ...guide('b2b-product'), until: '\n## 6. ' }],
};

/** A reader may follow all guides on one database. The last page is the one whose output is compared. */
const inOneShell: readonly (readonly [string, readonly EarlierPage[]])[] = [
  ['docs/guides/machine-onboarding.md', ['b2b-product', 'customers'].map(guide)],
  ['docs/guides/support-runbook.md', ['machine-onboarding', 'b2b-product', 'nginx'].map(guide)],
];

const visits = [
  ...[...concepts, ...guides].map((page) => [page, earlier[page] ?? []] as const),
  ...inOneShell,
].map(([page, after]) => ({
  page,
  after,
  title: [page, ...after.map((other) => other.page)].join(', after '),
}));

describe.each(visits)('$title', ({ page, after }) => {
  it('prints what it shows', async () => {
    const service = await serveOwnApp();
    try {
      const samples = await runPage({
        page,
        before: [firstCheck, { page: helpers }],
        url: service.url,
        then: () => verifyAddress(service.app),
        after,
      });
      for (const { language, printed, actual } of samples)
        expect(comparable(language, actual)).toEqual(comparable(language, printed));
    } finally {
      await service.close();
    }
  });
});

/** The link in the mail, which the terminal of `npm start` shows. */
async function verifyAddress(app: TestApp): Promise<void> {
  await app.app.flushMails();
  const token = /[?&]token=([\w-]{43})/.exec(app.mails.at(-1)?.text ?? '')?.[1] ?? '';
  await app.must('verifyEmail', { token });
}

describe('concepts', () => {
  it.each(concepts)('%s is short, begins with a question and ends with links', (page) => {
    const lines = readFileSync(join(root, page), 'utf8').trim().split('\n');
    expect(lines.length).toBeLessThanOrEqual(130);
    expect(lines[2]).toMatch(/\?/);
    expect(lines.slice(-8).join('\n')).toMatch(/## Read on\n[\s\S]*\]\(/);
  });
});

/** Rows of tables with the columns Condition, Attributes, Result. */
const rowsOf = (page: string): string[][] =>
  [
    ...readFileSync(join(root, page), 'utf8').matchAll(
      /^\| Condition +\| Attributes +\| Result.*\n\|.*\n((?:\|.*\n)+)/gm,
    ),
  ]
    .flatMap(([, rows = '']) => rows.trim().split('\n'))
    .map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/^`|`$/g, '')));

it('the conditions that the pages show have the result that they show', () => {
  const rows = ['docs/concepts/conditions.md', 'docs/concepts/grants.md'].flatMap(rowsOf);
  expect(rows.length).toBeGreaterThan(10);
  for (const [, condition = '', attributes = '', result = ''] of rows) {
    const truth = compileCondition(JSON.parse(condition)).evaluate(JSON.parse(attributes) as object);
    expect(`${condition} ${attributes}: ${truth}`).toBe(
      `${condition} ${attributes}: ${result.split(' ')[0]}`,
    );
  }
});
