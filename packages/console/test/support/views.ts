import { join } from 'node:path';
import type { Scope } from '../../src/scopes/scope.ts';

interface Page {
  readonly name: string;
  readonly needs?: readonly string[];
}

// By their addresses: the compiler of the tests knows no browser, and the pages do.
const sources = join(import.meta.dirname, '../../src/pages');
const { pagesOf } = (await import(join(sources, 'pages.ts'))) as {
  readonly pagesOf: (tenant: Scope['tenant']) => readonly Page[];
};
const { ownPages } = (await import(join(sources, 'me/pages.ts'))) as { readonly ownPages: readonly Page[] };

/** An address of the console that shows something of its own. */
export interface View {
  readonly name: string;
  readonly path: string;
  /** The first permission that it asks for; null: it shows what the user may see, or is about themselves. */
  readonly needs: string | null;
}

/** Some pages show an answer only to what the address asks. */
const queries: Readonly<Record<string, string>> = { why: '?resource=invoice&action=read' };

/** Every page of a scope, as the navigation knows them: a new page is among them. */
export const viewsOf = (scope: Scope): readonly View[] =>
  pagesOf(scope.tenant).map(({ name, needs = [] }) => ({
    name,
    path: `/console/${scope.tenant}/${scope.id}/${name}${queries[name] ?? ''}`,
    needs: needs[0] ?? null,
  }));

export const ownViews: readonly View[] = ownPages.map(({ name }) => ({
  name,
  path: `/console/me/${name}`,
  needs: null,
}));
