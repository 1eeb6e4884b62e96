import { documentKinds, type PolicyDocument } from '@doorward/decision/document/document';
import type { BuiltIns } from '../../../access/built-in.ts';
import { documentOf, labelsOf, type State, type StoredRow } from './state.ts';

/** The rows as a document, and warnings about what it leaves out. */
interface Exported {
  readonly document: PolicyDocument;
  readonly warnings: readonly ExportWarning[];
}

interface ExportWarning {
  readonly code: 'rowLeftOut' | 'dependentLeftOut' | 'referenceLeftOut';
  readonly kind: StoredRow['kind'];
  readonly key: string;
}

interface ExportOptions {
  /** All rows, or those that the last document manages. */
  readonly include: 'managed' | 'all';
  readonly last: PolicyDocument | null;
  /** Whether managed rows keep references that were added by hand, for a comparison. */
  readonly isForComparison?: boolean;
}

/**
 * The rows as a document that can be applied as it is. A row that no document manages is left out if its name is
 * ambiguous, because another row or a built-in row has the same name. Unmanaged rows that refer to it would change
 * without it, so these are left out too. A managed row stays, because leaving it out would delete it, but it loses its
 * references to rows that are left out.
 */
export function exportDocument(
  state: State,
  builtIns: BuiltIns,
  { include, last, isForComparison = false }: ExportOptions,
): Exported {
  const labels = labelsOf(state, builtIns);
  const kept: StoredRow[] = [];
  const warnings: ExportWarning[] = [];
  const leftOut = new Set<string>();
  // Rows refer only to rows of earlier kinds.
  for (const kind of documentKinds) {
    const names = new Map<string, number>();
    for (const { name, policyKey } of state.rows[kind])
      if (policyKey === null) names.set(name, (names.get(name) ?? 0) + 1);
    for (const row of state.rows[kind]) {
      const { id, name: key, policyKey } = row;
      const warn = (code: ExportWarning['code']) => warnings.push({ code, kind, key: policyKey ?? key });
      const isReferring = references(row).some((reference) => leftOut.has(reference));
      if (policyKey !== null) {
        kept.push(isReferring ? withoutReferences(row, leftOut) : row);
        if (isReferring) warn('referenceLeftOut');
      } else if (include === 'all') {
        const isNameable = names.get(key) === 1 && labels(id) === key && key !== '__proto__';
        if (isNameable && !isReferring) kept.push(row);
        else {
          leftOut.add(id);
          warn(isNameable ? 'dependentLeftOut' : 'rowLeftOut');
        }
      } else if (!isForComparison) leftOut.add(id);
    }
  }
  const document = documentOf(kept, labels, { mode: last?.mode ?? 'warn', tests: last?.tests ?? [] });
  return { document, warnings };
}

const lists = ['tags', 'permissions', 'groups'] as const;

/** Ids of the rows that a row refers to. */
const references = ({ fields }: StoredRow): string[] =>
  [...lists, 'resource', 'signUpRole'].flatMap((member) => (fields[member] ?? []) as string | string[]);

function withoutReferences(row: StoredRow, leftOut: ReadonlySet<string>): StoredRow {
  const fields: Record<string, unknown> = { ...row.fields };
  for (const member of lists)
    if (Array.isArray(fields[member]))
      fields[member] = (fields[member] as string[]).filter((id) => !leftOut.has(id));
  // Sign-up needs a role.
  if (leftOut.has(String(fields['signUpRole'])))
    Object.assign(fields, { signUpRole: null, allowSignUp: false });
  return { ...row, fields };
}
