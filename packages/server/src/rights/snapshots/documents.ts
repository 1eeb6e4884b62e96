import type { ChangesClaims, SnapshotClaims } from '@doorward/decision/snapshot-claims';
import type { Keyring } from '../../crypto/keys/keyring.ts';
import type { Revisions } from '../../db/cache/revisions.ts';
import type { CurrentContent } from './project-watch.ts';
import type { Difference } from './history.ts';
import type { SnapshotScope } from './rows/snapshot-scope.ts';
import type { UserFilter } from '../../access/policy-snapshots.ts';

/*
 * The signed documents of packages §8.2. Their `typ` distinguishes them from tokens, so nothing that accepts tokens
 * accepts them.
 */

const SNAPSHOT_TYPE = 'doorward-snapshot+jwt';
const CHANGES_TYPE = 'doorward-changes+jwt';

const LIFE_SECONDS = 86_400;

/** Claims without the issuer, which `signDocument` adds from the key. */
type Unsigned<C> = Omit<C, 'iss'>;

interface Signing {
  readonly keyring: Pick<Keyring, 'signDocument'>;
  readonly revisions: Pick<Revisions, 'seal'>;
}

/** The claims that both documents have in common. */
const commonClaims = (
  { revisions }: Signing,
  { projectId }: SnapshotScope,
  { content, below, asOf }: CurrentContent,
) => {
  const iat = Math.floor(asOf / 1000);
  return {
    aud: 'doorward-snapshot',
    sub: projectId,
    iat,
    exp: iat + LIFE_SECONDS,
    format: 1,
    sequence: content.sequence,
    // The document contains every transaction up to this number.
    revision: revisions.seal(below - 1),
    asOf,
  } as const;
};

const organizationOf = ({ content: { organization } }: CurrentContent) =>
  organization === undefined ? {} : { organization };

/** Signs a snapshot of the policy. */
export function signSnapshot(
  signing: Signing,
  scope: SnapshotScope,
  filter: UserFilter,
  nouns: readonly string[],
  current: CurrentContent,
): Promise<string> {
  const claims: Unsigned<SnapshotClaims> = {
    ...commonClaims(signing, scope, current),
    version: current.content.version,
    scope: scope.attributes,
    ...organizationOf(current),
    userFilter: filter,
    nouns,
    ...current.content.rows,
  };
  return signing.keyring.signDocument(scope.projectId, SNAPSHOT_TYPE, claims);
}

/** Signs changes of the policy. `difference` is null if it is not stored; the caller then has to fetch a snapshot. */
export function signChanges(
  signing: Signing,
  scope: SnapshotScope,
  from: string,
  difference: Difference | null,
  current: CurrentContent,
): Promise<string> {
  const claims: Unsigned<ChangesClaims> = {
    ...commonClaims(signing, scope, current),
    from,
    to: current.content.version,
    ...organizationOf(current),
    full: difference === null,
    ...(difference ?? { put: {}, drop: {} }),
    ended: current.content.rows.ended,
  };
  return signing.keyring.signDocument(scope.projectId, CHANGES_TYPE, claims);
}
