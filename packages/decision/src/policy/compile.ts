import { changedMap } from './changed-map.ts';
import { changedGraph, emptyGraph } from './graph.ts';
import { assertRolesExist, createHolders } from './holders.ts';
import {
  asObject,
  attributesAt,
  flagAt,
  isAbsentAt,
  nullAt,
  numberAt,
  objectAt,
  textAt,
  textsAt,
  within,
} from './members.ts';
import type { Members } from './members.ts';
import type { Ended, Policy } from './policy.ts';
import { droppedIn, limits, rowsIn, type DroppedIds, type Rows } from './rows.ts';
import { SnapshotError } from './snapshot-error.ts';

/**
 * Builds a policy from the claims of a verified snapshot. Checks and copies every member that it reads, and ignores
 * others. It does not verify the signature, the issuer, the project or the age of the claims: do that first.
 *
 * @throws SnapshotError if the format or the shape is wrong, or an id refers to no row
 * @example
 * const policy = compileSnapshot(claims);
 * decide(policy, { subject: { userId }, permission: 'order:read', now: Date.now() });
 */
export function compileSnapshot(claims: unknown): Policy {
  const document = asObject(claims);
  const header = headerOf(document);
  const policy: Policy = {
    ...header,
    version: versionAt(document, 'version'),
    scope: scopeOf(document),
    userFilter: userFilterOf(document),
    ended: endedOf(document),
    users: new Map(),
    keys: new Map(),
    apps: new Map(),
    graph: emptyGraph(new Set(textsAt(document, 'nouns', limits.ids))),
  };
  return withRows(policy, rowsIn(document, false), droppedIn({}));
}

/**
 * Returns the policy after the changes. It shares all unchanged rows with the given policy, which stays as it is.
 *
 * @throws SnapshotError like `compileSnapshot`, and with `NOT_NEXT` if the changes do not follow this policy
 * @example try { policy = applyChanges(policy, claims) } catch { policy = compileSnapshot(await fetchSnapshot()) }
 */
export function applyChanges(policy: Policy, claims: unknown): Policy {
  const document = asObject(claims);
  const header = headerOf(document);
  const version = versionAt(document, 'to');
  if (flagAt(document, 'full')) throw notNext('full', 'asks for a whole snapshot');
  if (versionAt(document, 'from') !== policy.version) throw notNext('from', 'is another version');
  if (header.iss !== policy.iss || header.sub !== policy.sub) throw notNext('sub', 'is another project');
  if (header.sequence < policy.sequence) throw notNext('sequence', 'is lower than before');
  if (header.asOf < policy.asOf) throw notNext('asOf', 'is earlier than before');
  const [put, drop] = [objectAt(document, 'put'), objectAt(document, 'drop')];
  const rows = within('put', () => rowsIn(put, true));
  const dropped = within('drop', () => droppedIn(drop));
  return withRows({ ...policy, ...header, version, ended: endedOf(document) }, rows, dropped);
}

const notNext = (path: string, problem: string) => new SnapshotError('NOT_NEXT', path, problem);

function withRows(policy: Policy, rows: Rows, dropped: DroppedIds): Policy {
  const graph = changedGraph(policy.graph, rows, dropped);
  const holders = createHolders(graph);
  const users = changedMap(policy.users, 'users', rows.users, dropped, holders.ofUser);
  const keys = changedMap(policy.keys, 'keys', rows.keys, dropped, holders.ofKey);
  const apps = changedMap(policy.apps, 'apps', rows.apps, dropped, (app) => app);
  if (users.size > limits.users) throw new SnapshotError('SHAPE', 'users', `are more than ${limits.users}`);
  // New and changed rows have been checked above. An unchanged user or key may still refer to a dropped role.
  if (dropped.roles.length > 0) assertRolesExist(graph, users, keys);
  return { ...policy, graph, users, keys, apps };
}

/** The claims that snapshots and changes have in common. */
function headerOf(document: Members) {
  if (numberAt(document, 'format') !== 1) throw new SnapshotError('FORMAT', 'format', 'is not 1');
  if (textAt(document, 'aud') !== 'doorward-snapshot')
    throw new SnapshotError('SHAPE', 'aud', 'is not doorward-snapshot');
  return {
    iss: textAt(document, 'iss'),
    sub: textAt(document, 'sub'),
    exp: numberAt(document, 'exp'),
    sequence: numberAt(document, 'sequence'),
    revision: textAt(document, 'revision'),
    asOf: numberAt(document, 'asOf'),
    organization: isAbsentAt(document, 'organization') ? undefined : attributesAt(document, 'organization'),
  };
}

const MAX_VERSION = 64;

function versionAt(document: Members, name: string): string {
  const version = textAt(document, name);
  if (version.length > MAX_VERSION) throw new SnapshotError('SHAPE', name, 'is too long');
  return version;
}

function scopeOf(document: Members): Policy['scope'] {
  const scope = objectAt(document, 'scope');
  const optional = ['accountId', 'organizationId'].filter((name) => !isAbsentAt(scope, name));
  const names = ['tenant', 'id', ...optional, 'projectId'];
  return within('scope', () =>
    Object.freeze(Object.fromEntries(names.map((name) => [name, textAt(scope, name)]))),
  );
}

function userFilterOf(document: Members): Policy['userFilter'] {
  const filter = document['userFilter'];
  if (filter === 'all' || filter === 'none') return filter;
  return new Set(textsAt(document, 'userFilter', limits.users));
}

function endedOf(document: Members): Ended {
  const ended = objectAt(document, 'ended');
  return within('ended', () => ({
    jti: new Set(textsAt(ended, 'jti', limits.ended)),
    issuedBefore: nullAt(ended, 'issuedBefore') ? null : numberAt(ended, 'issuedBefore'),
    kids: new Set(textsAt(ended, 'kids', limits.ended)),
  }));
}
