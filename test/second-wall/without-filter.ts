import { relative, join } from 'node:path';
import type { Plugin } from 'vitest/config';

/**
 * A build without the service's own tenant filter: every condition that compares a row's tenant with the node of the
 * scope is made to hold for any row, in the text of the files as they are loaded. What then still keeps tenants apart is
 * row-level security alone. Left as they are: the resolver and what else serves no scope, and what is written as a value.
 */
const root = join(import.meta.dirname, '../..');
const filtering = /^src\/(db|features)\/.*\.ts$|^src\/access\/(giving|surroundings)\.ts$/;
/** Serves no scope: sign-in to an app, jobs and consumers of events. */
const ofService = /^src\/features\/(app-access|webhook-delivery|webhook-subscriptions\/fan-out)\b/;

const NODE = String.raw`(?:ctx\.|db\.|at\.)?(?:scope\.)?(?:nodeId|projectId)`;

/** By what it says in the source; each is found somewhere, or the build is not what it claims to be. */
export const edits: readonly { readonly what: string; readonly from: RegExp; readonly to: string }[] = [
  {
    what: 'a column is the node',
    from: new RegExp(String.raw`\beq\(([\w.]+(?:\['\w+'\] as PgColumn)?), ${NODE}\)`, 'g'),
    to: 'eq($1, $1 as never)',
  },
  {
    what: 'a column is the node, in SQL',
    from: new RegExp(String.raw`= \$\{${NODE}\}(?:::uuid)?`, 'g'),
    to: 'is not null',
  },
  {
    what: 'one of the nodes, in SQL',
    from: /\btenant_id in (?:\$\{visible\}|\(\$\{(?:nodeId|tenantId)\}[^)]*\))/g,
    to: 'tenant_id is not null',
  },
  {
    what: 'links of the node',
    from: /inArray\(columns\['tenantId'\] as PgColumn, \[[^\]]*\]\)/g,
    to: 'sql`true`',
  },
  {
    what: 'roles that a key may wear',
    from: /inArray\(roles\.tenantId, tenantsOf\(scope\)\)/g,
    to: 'eq(roles.tenantId, roles.tenantId)',
  },
  {
    what: 'a membership in the tenant',
    from: /eq\(table\.tenantId as never, tenantId\)/g,
    to: 'eq(table.tenantId as never, table.tenantId as never)',
  },
];

interface Unfiltered {
  readonly text: string;
  /** What was edited, each time. */
  readonly found: readonly string[];
}

export function unfiltered(path: string, text: string): Unfiltered {
  if (!filtering.test(path) || ofService.test(path) || path.endsWith('.test.ts')) return { text, found: [] };
  const found: string[] = [];
  let rest = text;
  for (const { what, from, to } of edits) {
    rest = rest.replace(from, (...match: string[]) => {
      found.push(what);
      return to.replaceAll('$1', match[1] ?? '');
    });
  }
  return { text: rest, found };
}

export const withoutFilter = (): Plugin => ({
  name: 'without-tenant-filter',
  enforce: 'pre',
  transform(code, id) {
    const { text, found } = unfiltered(relative(root, id), code);
    return found.length > 0 ? { code: text, map: null } : null;
  },
});
