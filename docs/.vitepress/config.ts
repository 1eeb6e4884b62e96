import { defineConfig } from 'vitepress';
import { brandIcon } from '../../packages/server/src/html/brand-icon.ts';
import { base, outDir } from './folders.ts';
import { strictPages } from './strict-pages.ts';
import { nav, sidebar } from './navigation.ts';
import { pageOf, slugify, useRepositoryLinks } from './repository-links.ts';

/**
 * The documentation as a site: `npm run docs`. The pages are the markdown files of the repository as they are, with links that
 * work on a code host too. A link to a page that does not exist fails the build.
 */
const strict = strictPages();

export default defineConfig({
  title: 'Doorward',
  description: 'Access management for many tenants: who may do what, here, now, and why.',
  base,
  srcDir: '..',
  outDir,
  srcExclude: ['{bench,test,scripts,data,dist,security}/**', 'packages/{server,console}/**'],
  rewrites: pageOf,
  cacheDir: '../node_modules/.cache/vitepress',
  // The index of the search is one file.
  vite: { build: { chunkSizeWarningLimit: 10_000 } },
  // Otherwise a page loads every page that its navigation names.
  router: { prefetchLinks: false },
  markdown: {
    anchor: { slugify },
    eagerFrontmatterInterpolation: false,
    config: useRepositoryLinks,
    codeTransformers: [strict.codeTransformer],
  },
  transformHtml: strict.withoutInline,
  buildEnd: strict.writeFiles,
  // Otherwise a change of the appearance adds a style element, which the policy of the service refuses.
  appearance: { disableTransition: false },
  head: [
    ['link', { rel: 'stylesheet', href: `${base}code.css` }],
    ['link', { rel: 'icon', href: brandIcon }],
  ],
  themeConfig: {
    nav,
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    externalLinkIcon: true,
  },
});
