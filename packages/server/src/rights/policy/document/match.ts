import { documentKinds, type DocumentKind, type PolicyDocument } from '@doorward/decision/document/document';
import type { BuiltIns } from '../../../access/built-in.ts';
import { fail, type Detail } from '../../../errors.ts';
import { differenceOf, fieldsThatDiffer, type DocumentChange } from './difference.ts';
import { formerKey, type FormerKeys } from './document.ts';
import { documentOf, labelsOf, type State, type StoredRow } from './state.ts';

/** The changes that a document makes to the rows of a project. */
export interface Comparison {
  /** The changes in the order in which they are applied. */
  readonly changes: readonly Change[];
  /** The rows that the document manages before and after, in document form and under the document's keys. */
  readonly before: PolicyDocument;
  readonly after: PolicyDocument;
  /** `before` and `after`, plus the rows that no document manages, under names that differ from every key. */
  readonly all: { readonly before: PolicyDocument; readonly after: PolicyDocument };
  /** The existing row with a kind and key, if there is one. For a row that no document manages: its name in `all`. */
  readonly rowOf: (kind: DocumentKind, key: string) => StoredRow | undefined;
}

export interface Change {
  readonly kind: DocumentKind;
  readonly key: string;
  /**
   * The key of the row in the compared documents. It differs from `key` for a deleted row whose key a new row takes.
   */
  readonly label: string;
  /** adopt: a row with exactly this name that no document managed. rename: the row with the former key. */
  readonly action: 'create' | 'adopt' | 'update' | 'rename' | 'delete';
  /** Null for a row that does not exist yet. */
  readonly id: string | null;
  readonly fields: DocumentChange['fields'];
  readonly protected: boolean;
}

/**
 * Compares a document with the rows. A managed row keeps its key until the document says `renamedFrom`. A row that no
 * document manages is adopted if its name is a key in the document.
 *
 * @throws CONFLICT `ambiguous` if several such rows have this name
 */
export function compare(
  state: State,
  builtIns: BuiltIns,
  after: PolicyDocument,
  formerKeys: FormerKeys = new Map(),
): Comparison {
  const matches = new Map<string, Match>();
  const labels = labelsOf(state, builtIns);
  /**
   * Whether a new row has to replace the matched row: the resource and action of a permission cannot change, and
   * neither can `confidential` of an app.
   */
  const isReplaced = ({ key, row: { kind, fields } }: Match): boolean => {
    if (kind === 'apps') return after.apps[key]?.confidential !== fields['confidential'];
    const wanted = after.permissions[key];
    if (kind !== 'permissions' || !wanted) return false;
    return labels(String(fields['resource'])) !== wanted.resource || fields['action'] !== wanted.action;
  };
  for (const kind of documentKinds)
    for (const match of matchesOf(state, after, formerKeys, kind))
      if (!isReplaced(match)) matches.set(`${kind} ${match.key}`, match);
  const matched = new Set([...matches.values()].map(({ row }) => row.id));
  const unmatched = documentKinds.flatMap((kind) =>
    state.rows[kind].filter(({ id, policyKey }) => policyKey !== null && !matched.has(id)),
  );
  const keys = new Map([...matches.values()].map(({ row, key }) => [row.id, key]));
  // A row that is deleted may have the key of a new row.
  for (const { id, kind, policyKey } of unmatched)
    if (policyKey !== null && Object.hasOwn(after[kind], policyKey)) keys.set(id, `${policyKey} (${id})`);
  const rows = [...[...matches.values()].map(({ row }) => row), ...unmatched];
  const byLabel = new Map(rows.map((row) => [`${row.kind} ${keys.get(row.id) ?? row.policyKey ?? ''}`, row]));
  const newLabels = labelsOf(state, builtIns, keys, after);
  const before = documentOf(rows, newLabels, {});
  const isUnmanaged = (row: StoredRow): boolean => row.policyKey === null && !matched.has(row.id);
  const others = documentKinds.flatMap((kind) => state.rows[kind].filter(isUnmanaged));
  const unmanaged = documentOf(others, newLabels, {});
  for (const row of others) byLabel.set(`${row.kind} ${newLabels(row.id)}`, row);
  const differences = new Map(
    differenceOf(before, after).map((change) => [`${change.kind} ${change.key}`, change]),
  );
  // A row that is adopted or gets another key is a change, even if no field differs.
  for (const [label, { key, row, how }] of matches)
    if ((how !== 'managed' || hasAnotherName(row, key)) && !differences.has(label))
      differences.set(label, { kind: row.kind, key, action: 'update', fields: {} });

  const changes = inOrder([...differences.values()]).map((change): Change => {
    const label = `${change.kind} ${change.key}`;
    const row = byLabel.get(label);
    const how = matches.get(label)?.how;
    return {
      kind: change.kind,
      key: change.action === 'delete' ? (row?.policyKey ?? change.key) : change.key,
      label: change.key,
      action: how === 'adopted' ? 'adopt' : how === 'renamed' ? 'rename' : change.action,
      id: row?.id ?? null,
      fields: {
        ...(how &&
          row &&
          hasAnotherName(row, change.key) &&
          fieldsThatDiffer({ name: row.name }, { name: change.key })),
        ...change.fields,
      },
      protected: row?.policyHold === 'protected',
    };
  });
  const all = { before: joined(unmanaged, before), after: joined(unmanaged, after) };
  return { changes, before, after, all, rowOf: (kind, key) => byLabel.get(`${kind} ${key}`) };
}

/** Whether the key of a row differs from its name. False for a resource, whose name is independent of its key. */
const hasAnotherName = ({ kind, name }: StoredRow, key: string): boolean =>
  kind !== 'resources' && name !== key;

interface Match {
  readonly key: string;
  readonly row: StoredRow;
  readonly how: 'managed' | 'renamed' | 'adopted';
}

function matchesOf(state: State, after: PolicyDocument, formerKeys: FormerKeys, kind: DocumentKind): Match[] {
  const managed = new Map(
    state.rows[kind].flatMap((row) => (row.policyKey === null ? [] : [[row.policyKey, row]])),
  );
  const others = new Map<string, StoredRow[]>();
  for (const row of state.rows[kind])
    if (row.policyKey === null) {
      const namesakes = others.get(row.name);
      if (namesakes) namesakes.push(row);
      else others.set(row.name, [row]);
    }
  const ambiguous: Detail[] = [];
  const matches = Object.keys(after[kind]).flatMap((key): Match[] => {
    const former = formerKeys.get(formerKey(kind, key));
    const own = managed.get(key);
    const renamed = former === undefined || former in after[kind] ? undefined : managed.get(former);
    const [adopted, another] = others.get(key) ?? [];
    const isAmbiguous = another !== undefined && !own && !renamed;
    if (isAmbiguous) ambiguous.push({ path: `policy.${kind}.${key}`, code: 'ambiguous' });
    const match: Match | undefined = own
      ? { key, row: own, how: 'managed' }
      : renamed
        ? { key, row: renamed, how: 'renamed' }
        : adopted && { key, row: adopted, how: 'adopted' };
    return match ? [match] : [];
  });
  if (ambiguous.length > 0)
    throw fail('CONFLICT', {
      details: ambiguous.slice(0, 20),
      fix: 'Several rows that no document manages have this name: rename or delete all but one.',
    });
  return matches;
}

const joined = (some: PolicyDocument, others: PolicyDocument): PolicyDocument => ({
  ...others,
  ...Object.fromEntries(documentKinds.map((kind) => [kind, { ...some[kind], ...others[kind] }])),
});

/** Orders changes as `differenceOf` does: creations and changes by kind, then deletions in the opposite order. */
function inOrder(changes: readonly DocumentChange[]): DocumentChange[] {
  const rank = ({ kind, action }: DocumentChange): number => {
    const place = documentKinds.indexOf(kind);
    return action === 'delete' ? 2 * documentKinds.length - place : place;
  };
  return [...changes].sort((a, b) => rank(a) - rank(b) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}
