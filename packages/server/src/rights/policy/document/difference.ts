import {
  documentKinds,
  rowsIn,
  type DocumentKind,
  type PolicyDocument,
} from '@doorward/decision/document/document';
import { canonicalJson } from '../../../kernel/output/canonical-json.ts';

/** One row that differs between two documents. */
export interface DocumentChange {
  readonly kind: DocumentKind;
  readonly key: string;
  readonly action: 'create' | 'update' | 'delete';
  /** The members that differ; for a created or deleted row, all members. */
  readonly fields: FieldChanges;
}

export type FieldChanges = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

type Row = Readonly<Record<string, unknown>>;

/** The changes that turn one document into the other, in an order in which they can be made. */
export function differenceOf(before: PolicyDocument, after: PolicyDocument): DocumentChange[] {
  const changed = documentKinds.flatMap((kind) => {
    const [old, wanted] = [rowsOf(before, kind), rowsOf(after, kind)];
    return sortedKeys(wanted).flatMap((key): DocumentChange[] => {
      const was = old.get(key);
      const is = wanted.get(key) ?? {};
      if (!was) return [{ kind, key, action: 'create', fields: fieldsThatDiffer({}, is) }];
      const fields = fieldsThatDiffer(was, is);
      return Object.keys(fields).length === 0 ? [] : [{ kind, key, action: 'update', fields }];
    });
  });
  const deleted = [...documentKinds].reverse().flatMap((kind) => {
    const [old, wanted] = [rowsOf(before, kind), rowsOf(after, kind)];
    return sortedKeys(old).flatMap((key): DocumentChange[] =>
      wanted.has(key)
        ? []
        : [{ kind, key, action: 'delete', fields: fieldsThatDiffer(old.get(key) ?? {}, {}) }],
    );
  });
  return [...changed, ...deleted];
}

/** A map, because a key may equal the name of a member that every object has. */
const rowsOf = (document: PolicyDocument, kind: DocumentKind): ReadonlyMap<string, Row> =>
  new Map(Object.entries(rowsIn(document, kind)));

const sortedKeys = (rows: ReadonlyMap<string, Row>): string[] => [...rows.keys()].sort();

export function fieldsThatDiffer(before: Row, after: Row): FieldChanges {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return Object.fromEntries(
    names
      .filter((name) => differs(before[name], after[name]))
      .map((name) => [name, { from: before[name] ?? null, to: after[name] ?? null }]),
  );
}

/** Whether two values differ. A null member counts as missing. */
function differs(before: unknown, after: unknown): boolean {
  const [was, is] = [before ?? null, after ?? null];
  if (was === is) return false;
  // A missing side differs from any value. This is the case for all members of a created or deleted row.
  return was === null || is === null || canonicalJson(was) !== canonicalJson(is);
}
