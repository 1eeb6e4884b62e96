import { relative, join } from 'node:path';
import type { Plugin } from 'vitest/config';
import { subjects } from '../../../../test/support/subjects.ts';

/**
 * A build without the tenant filter of the service: every condition that compares the tenant of a row with the node of
 * the scope is replaced, as the files are loaded, by one that is true for every row. Row-level security alone then
 * separates tenants. Unchanged: the resolver and other code without a scope, and values that are written.
 */
const root = join(import.meta.dirname, '../..');
const filtering = new RegExp(
  String.raw`^src/(db|schema|${subjects.join('|')})/.*\.ts$|^src/access/(delegation/delegation|explain/explain-context)\.ts$`,
);
/** Code without a scope: sign-in to an app, jobs and consumers of events. */
const ofService = /^src\/(apps\/access|webhooks\/(delivery|subscriptions\/fan-out))\b/;

const NODE = String.raw`(?:ctx\.|db\.|at\.)?(?:scope\.)?(?:nodeId|projectId)`;

/** Patterns in the source; each must match, or the build fails. */
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
    from: /eq\(table\.tenantId, tenantId\)/g,
    to: 'eq(table.tenantId, table.tenantId)',
  },
];

interface Unfiltered {
  readonly text: string;
  /** Every replacement that was made. */
  readonly found: readonly string[];
}

export function unfiltered(path: string, text: string): Unfiltered {
  if (!filtering.test(path) || ofService.test(path) || path.endsWith('.test.ts')) return { text, found: [] };
  const result: string[] = [];
  let rest = text;
  for (const { what, from, to } of edits) {
    rest = rest.replace(from, (...match: string[]) => {
      result.push(what);
      return to.replaceAll('$1', match[1] ?? '');
    });
  }
  return { text: rest, found: result };
}

export const withoutFilter = (): Plugin => ({
  name: 'without-tenant-filter',
  enforce: 'pre',
  transform(code, id) {
    const { text, found: match } = unfiltered(relative(root, id), code);
    return match.length > 0 ? { code: text, map: null } : null;
  },
});
