import { canonicalCondition, type CompiledCondition } from '@doorward/decision/conditions';
import type { Candidates, Grants, PermissionIndex } from '@doorward/decision/evaluate';
import { heldPairs } from '@doorward/decision/questions/held-pairs';
import { digest, digester, type Effective } from '../grants/effective.ts';

/**
 * Lists the effective permissions of active subjects, for comparing two lists of one subject: the terms of two pairs
 * are equal if and only if those of `effectivePermissions` are.
 *
 * A pair may have ten thousand paths, and hundreds of subjects may have the same roles. So everything that depends only
 * on the roles is computed once per index; only the values that conditions read from the subject are computed for each
 * subject.
 */
export function comparablePermissions(): (grants: Grants) => readonly Effective[] {
  const byIndex = new WeakMap<PermissionIndex, readonly SharedPair[]>();
  return (grants) => {
    const pairs = byIndex.get(grants.held) ?? sharedPairs(grants);
    byIndex.set(grants.held, pairs);
    const read = subjectReader(grants);
    return pairs.map(({ pair, readers }) =>
      pair.terms === '' ? pair : { ...pair, terms: `${pair.terms} ${read(readers)}` },
    );
  };
}

interface SharedPair {
  /** Contains only the terms that do not depend on the subject. */
  readonly pair: Effective;
  readonly readers: Readers;
}

/** Conditions of a pair that together read every attribute of the subject and the scope that the pair depends on. */
type Readers = readonly CompiledCondition[];

function sharedPairs(grants: Grants): SharedPair[] {
  // Pairs whose conditions read the same attributes share one list, so that these attributes are read once per subject.
  const lists = new Map<string, Readers>();
  return heldPairs(grants).map(({ candidates, ...pair }) => {
    const readers = readersOf(candidates);
    const key = JSON.stringify(readers.map(({ paths }) => paths));
    const existing = lists.get(key);
    lists.set(key, existing ?? readers);
    return { pair: { ...pair, terms: sharedTerms(candidates) }, readers: existing ?? readers };
  });
}

const ofSubject = /^(?:user|organization|scope)\./;

function readersOf({ allowed, conditional }: Candidates): Readers {
  if (allowed) return [];
  const covered = new Set<string>();
  return [...new Set(conditional.map(({ compiled }) => compiled))].filter(({ paths }) => {
    const own = paths.filter((path) => ofSubject.test(path) && !covered.has(path));
    own.forEach((path) => covered.add(path));
    return own.length > 0;
  });
}

/** Digests the conditions, with the attributes of roles and groups that they read. Empty without conditions. */
function sharedTerms({ allowed, conditional }: Candidates): string {
  if (allowed) return '';
  const { digestOnce, textOf } = digester();
  const lines = conditional.map(({ condition, compiled, role, group }) => {
    const read = compiled.readsRole || compiled.readsGroup ? compiled.context({ role, group }) : {};
    return `${digestOnce(condition, canonicalCondition)} ${textOf(Object.entries(read))}`;
  });
  return digest([...new Set(lines)].sort().join('\n'));
}

/**
 * Digests the attributes of a subject and its scope that conditions read, by path, because members may be in any order.
 */
function subjectReader({ user, organization, scope }: Grants): (readers: Readers) => string {
  const { textOf } = digester();
  const digests = new Map<Readers, string>();
  return (readers) => {
    const existing = digests.get(readers);
    if (existing !== undefined) return existing;
    const values = new Map(
      readers.flatMap((compiled) => Object.entries(compiled.context({ user, organization, scope }))),
    );
    const made = digest(textOf([...values].sort(([a], [b]) => (a < b ? -1 : 1))));
    digests.set(readers, made);
    return made;
  };
}
