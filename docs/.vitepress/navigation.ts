import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { root } from './folders.ts';

/** The navigation of the site. The lists of reference, decisions and specification are those of their folders. */
type Item = DefaultTheme.SidebarItem;

const titleOf = (path: string): string =>
  /^# (.+)$/m.exec(readFileSync(join(root, path), 'utf8'))?.[1]?.replaceAll('`', '') ?? path;

/** Pages below `docs`, with their titles. */
const pages = (...names: readonly string[]): Item[] =>
  names.map((name) => ({ text: titleOf(`docs/${name}.md`), link: `/${name}` }));

const folder = (name: string): Item[] => [
  { text: 'Overview', link: `/${name}/` },
  ...pages(
    ...readdirSync(join(root, 'docs', name))
      .filter((file) => file.endsWith('.md') && file !== 'README.md')
      .sort()
      .map((file) => `${name}/${file.slice(0, -3)}`),
  ),
];

const readMes = ['node', 'browser', 'react', 'decision', 'cli'].map((name) => ({
  text: `@doorward/${name}`,
  link: `/packages/${name}/`,
}));

const concepts =
  'tenants users-and-sign-in roles-and-groups conditions decisions-and-why tokens-and-keys sessions';
const sections: readonly (readonly [title: string, link: string, items: Item[]])[] = [
  ['Start', '/getting-started', pages('getting-started', 'console', 'cli')],
  [
    'Concepts',
    '/concepts/',
    [
      { text: 'Overview', link: '/concepts/' },
      ...pages(...`${concepts} events-and-audit grants`.split(' ').map((name) => `concepts/${name}`)),
    ],
  ],
  [
    'Guides',
    '/guides/',
    [
      { text: 'Overview', link: '/guides/' },
      ...pages('guides/b2b-product', 'guides/project-grants', 'guides/customers', 'guides/guards'),
      ...pages(...'express fastify hono nestjs nextjs nginx'.split(' ').map((name) => `guides/${name}`)),
      ...pages(...'sign-in passkeys company-sign-in authzen'.split(' ').map((name) => `guides/${name}`)),
      ...pages(
        ...'machine-onboarding webhooks policy-as-code import-users harden support-runbook'
          .split(' ')
          .map((name) => `guides/${name}`),
      ),
    ],
  ],
  ['Operate', '/operating/', folder('operating')],
  ['Reference', '/reference/', [...folder('reference'), { text: 'Packages', items: readMes }]],
  [
    'Decisions',
    '/decisions/',
    [...pages('architecture', 'glossary', 'testing', 'mutation-testing'), ...folder('decisions')],
  ],
  ['Spec', '/spec/', folder('spec')],
];

export const nav: DefaultTheme.NavItem[] = sections.map(([text, link]) => ({ text, link }));

/** One tree for all pages, so that a search result shows where it is. */
export const sidebar: DefaultTheme.Sidebar = sections.map(([text, , items]) => ({
  text,
  items,
  collapsed: !['Start', 'Concepts', 'Guides'].includes(text),
}));
