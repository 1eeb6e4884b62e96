import { type DocumentKind, documentKinds } from '@doorward/decision/document/document';
import { column, selectionOf } from '../../db/query/entity-columns.ts';
import { isAnyOf } from '../../db/statements/rows.ts';
import type { ReadContext } from '../../kernel/entity.ts';
import type { Recording } from '../../kernel/event.ts';
import { projector } from '../../kernel/output/projector.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { fieldsThatDiffer } from './document/difference.ts';
import { entityOf } from './document/kinds.ts';
import type { WrittenChange } from './write.ts';

/** The event noun of each kind. Changes to tags and webhooks publish no events. */
const eventNoun: Readonly<Partial<Record<DocumentKind, string>>> = {
  resources: 'resource',
  permissions: 'permission',
  groups: 'group',
  roles: 'role',
  apps: 'project_app',
};
const verbOf = {
  create: 'created',
  adopt: 'updated',
  rename: 'updated',
  update: 'updated',
  delete: 'deleted',
} as const;

type Row = Readonly<Record<string, unknown>>;

/** Reads the rows as the API returns them, by id, including deleted rows. Uses one statement per kind. */
export async function readAnswers(
  tx: Executor,
  at: ReadContext,
  changes: readonly { readonly kind: DocumentKind; readonly id: string | null }[],
): Promise<ReadonlyMap<string, Row>> {
  const answers = new Map<string, Row>();
  for (const kind of documentKinds) {
    const ids = changes.flatMap((change) => (change.kind === kind && change.id !== null ? [change.id] : []));
    if (ids.length === 0) continue;
    const entity = entityOf[kind];
    const rows = (await tx
      .select(selectionOf(entity, at))
      .from(entity.table)
      .where(isAnyOf(column(entity, 'id'), ids))) as Row[];
    for (const row of rows) answers.set(String(row['id']), projector(entity.schema)(row) as Row);
  }
  return answers;
}

/** Members of rows that list names in a document, and ids in the API. */
const links = ['permissions', 'groups', 'tags'];

/** One recording per row, as for a change by hand. */
export const recordingsOf = (
  written: readonly WrittenChange[],
  before: ReadonlyMap<string, Row>,
  after: ReadonlyMap<string, Row>,
): Recording[] =>
  written.map(({ kind, id, action, fields }) => {
    const data = after.get(id) ?? {};
    const named = Object.fromEntries(Object.entries(fields).filter(([name]) => links.includes(name)));
    const { updatedAt: _, ...changes } = fieldsThatDiffer(before.get(id) ?? data, data);
    return {
      ...(eventNoun[kind] !== undefined && { event: `${eventNoun[kind]}.${verbOf[action]}` }),
      data,
      ...(verbOf[action] === 'updated' && { changes: { ...changes, ...named } }),
      target: { type: entityOf[kind].name, id },
      audited: true,
    };
  });
