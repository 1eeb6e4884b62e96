import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { MarkdownOptions } from 'vitepress';
import { root } from './folders.ts';

/**
 * Links of the repository in the site. In the files they are relative paths, as a code host reads them; in the site they are
 * addresses of pages. A link to a file that is not a page, such as an example, becomes plain text.
 */
type Markdown = Parameters<NonNullable<MarkdownOptions['config']>>[0];

const readMes = /^(?:packages\/(?:browser|cli|decision|node|react)|examples\/[\w-]+)\/README\.md$/;

/** Whether a file of the repository is a page of the site. */
export const isPage = (path: string): boolean =>
  path.endsWith('.md') && (/^(?:docs\/.+|[A-Z]+\.md)$/.test(path) || readMes.test(path));

/** The path of a file in the site: `docs/` is its root, and a README is the page of its folder. */
export function pageOf(path: string): string {
  if (path === 'README.md') return 'about.md';
  return path.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md');
}

/** The names of anchors as code hosts make them, which the links in the files use. */
export const slugify = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** The address of a link in a file, or undefined if it leads to no page. */
function addressOf(file: string, href: string): string | undefined {
  const [path = '', anchor] = href.split('#');
  let target = relative(root, join(dirname(file), path)).replaceAll('\\', '/');
  if (existsSync(join(root, target, 'README.md'))) target = join(target, 'README.md');
  if (!isPage(target)) return undefined;
  return `/${pageOf(target)}${anchor === undefined ? '' : `#${anchor}`}`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Texts of the repository have no HTML: what looks like a tag, such as `Page<Role>` in a table, is text. */
const showTags = (markdown: Markdown): void => {
  for (const kind of ['html_inline', 'html_block'] as const)
    markdown.renderer.rules[kind] = (tokens, index) => {
      const { content = '' } = tokens[index] ?? {};
      if (content.startsWith('<!--')) return '';
      return /^(?:<a id="[\w.-]+">|<\/a>)$/.test(content) ? content : escaped(content);
    };
};

/** `{{user.id}}` is a text of conditions, and no expression of a page. */
const showBraces = (markdown: Markdown): void => {
  const { rules } = markdown.renderer;
  for (const kind of ['text', 'code_inline'] as const) {
    const render = rules[kind];
    rules[kind] = (...args) => (render?.(...args) ?? '').replaceAll('{{', '&#123;&#123;');
  }
};

export function useRepositoryLinks(markdown: Markdown): void {
  showTags(markdown);
  showBraces(markdown);
  markdown.core.ruler.push('repository_links', (state) => {
    const env = state.env as { realPath?: string; path: string };
    for (const { children } of state.tokens) {
      let isText = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const href = token.attrGet('href') ?? '';
          if (/^(?:[a-z]+:|#)/.test(href)) continue;
          const address = addressOf(env.realPath ?? env.path, href);
          isText = address === undefined;
          if (address === undefined) [token.tag, token.attrs] = ['span', []];
          else token.attrSet('href', address);
        } else if (token.type === 'link_close' && isText) {
          token.tag = 'span';
          isText = false;
        }
      }
    }
  });
}
