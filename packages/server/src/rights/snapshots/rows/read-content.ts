import { sql } from 'drizzle-orm';
import { setImmediate as nextTick } from 'node:timers/promises';
import {
  rowSections,
  type RowSection,
  type SnapshotKey,
  type SnapshotRows,
  type SnapshotUser,
} from '@doorward/decision/snapshot-claims';
import { verificationDeadlineOf } from '../../../access/credentials/credentials.ts';
import { OLDEST_OPEN } from '../../../db/cache/change-channel.ts';
import type { Database } from '../../../db/connection/open.ts';
import { rowsOf } from '../../../db/statements/rows.ts';
import type { Executor } from '../../../kernel/scoped-db.ts';
import { pick } from './attribute-tree.ts';
import { readApps, readAppIds, readKeys } from './credential-rows.ts';
import { endedChangesAt, readEnded } from './ended.ts';
import { createJsonSize, MAX_USERS, tooLarge, type JsonSize } from './limits.ts';
import { readRoleRows } from './role-rows.ts';
import type { SnapshotScope } from './snapshot-scope.ts';
import type { UserFilter } from '../../../access/policy-snapshots.ts';
import { countRelatedUsers, readAttributes, readRelatedUsers, type RelatedUser } from './user-rows.ts';

/** All rows of a snapshot, as one transaction saw them, with the data for checking whether they are still current. */
export interface ReadContent {
  readonly rows: SnapshotRows;
  /**
   * Attributes of the owning organization that conditions read; undefined if no condition reads any, or if an account
   * owns the project.
   */
  readonly organization: Readonly<Record<string, unknown>> | undefined;
  /** The rows contain every transaction with a lower number. */
  readonly below: number;
  /** The sum of the policy versions of project and owner. Each change increases it, so it never decreases. */
  readonly sequence: number;
  /** Ids of users, keys and apps whose changes may change the rows. */
  readonly watchedIds: ReadonlySet<string>;
  /** When the rows, or the ended credentials, change by time alone, in milliseconds; null for never. */
  readonly rowsChangeAt: number | null;
  readonly endedChangesAt: number | null;
}

export interface ReadOptions {
  readonly scope: SnapshotScope;
  readonly filter: UserFilter;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly tokenMs: number;
}

interface Facts {
  readonly below: number;
  readonly sequence: number;
  readonly ownerUserId: string | null;
  /** From this time on apps and keys are refused, because the owner of the account has not verified an address. */
  readonly overdueFrom: number | null;
  /** The owning organization as conditions read it; null if an account owns the project. */
  readonly organization: Readonly<Record<string, unknown>> | null;
}

/** Reads in one repeatable-read transaction, so that no row refers to a missing row. @throws SNAPSHOT_TOO_LARGE */
export const readContent = (database: Database, options: ReadOptions): Promise<ReadContent> =>
  database.transaction(async (tx) => {
    await tx.execute(sql.raw('set transaction isolation level repeatable read, read only'));
    const { scope, filter, now } = options;
    const size = createJsonSize();
    const facts = await readFacts(tx, scope);
    if (filter === 'all' && (await countRelatedUsers(tx, scope, MAX_USERS + 1)) > MAX_USERS)
      throw tooLarge(`more than ${MAX_USERS} users`);
    const related = await readRelatedUsers(tx, scope, filter);
    const active = related.filter((user) => user.active);
    const keys = await readKeys(tx, scope, now, size);
    const keyRoles = keys.flatMap(({ roleId }) => roleId ?? []);
    const assigned = new Set([...active.flatMap(({ roleIds }) => roleIds), ...keyRoles]);
    const { userAttributes, organizationAttributes, ...roleRows } = await readRoleRows(
      tx,
      [...assigned].sort(),
    );
    const attributes =
      userAttributes.size === 0
        ? new Map<string, Record<string, unknown>>()
        : await readAttributes(tx, scope, userIdsOf(active, keys), userAttributes, size);
    const isOverdue = facts.overdueFrom !== null && facts.overdueFrom <= now;
    const apps = isOverdue ? [] : await readApps(tx, scope);
    const ended = await readEnded(tx, scope, options);
    const users = withAttributes(active, attributes, new Set(roleRows.roles.map(({ id }) => id)));
    const rows = { ...roleRows, users, keys: keys.map(withAttributesOf(attributes)), apps, ended };
    return {
      rows,
      organization:
        facts.organization && organizationAttributes.size > 0
          ? pick(organizationAttributes, facts.organization)
          : undefined,
      below: facts.below,
      sequence: facts.sequence,
      watchedIds: new Set([
        ...related.map(({ id }) => id),
        ...keys.flatMap(({ id, userId }) => [id, userId]),
        ...(await readAppIds(tx, scope)),
        ...(facts.ownerUserId === null ? [] : [facts.ownerUserId]),
      ]),
      rowsChangeAt: earliest([
        ...keys.map(({ expiresAt }) => expiresAt),
        isOverdue ? null : facts.overdueFrom,
      ]),
      endedChangesAt: endedChangesAt(ended, now),
    };
  });

async function readFacts(tx: Executor, { projectId, ownerId }: SnapshotScope): Promise<Facts> {
  const [row] = await rowsOf<Facts>(
    tx,
    sql`
    select (${sql.raw(OLDEST_OPEN)}::text)::float8 as below,
      (select sum(policy_version)::float8 from nodes where id in (${projectId}::uuid, ${ownerId}::uuid)) as sequence,
      account.owner_id as "ownerUserId",
      (extract(epoch from ${verificationDeadlineOf('account_owner')}) * 1000)::float8 as "overdueFrom",
      (select json_build_object('id', g.id, 'metadata', g.metadata) from organizations g
        where g.id = n.parent_id) as organization
    from nodes n left join accounts account on account.id = n.parent_id
    left join users account_owner on account_owner.id = account.owner_id
    where n.id = ${projectId}::uuid`,
  );
  if (!row) throw new Error(`no project ${projectId}`);
  return row;
}

const userIdsOf = (users: readonly RelatedUser[], keys: readonly SnapshotKey[]): string[] => [
  ...new Set([...users.map(({ id }) => id), ...keys.map(({ userId }) => userId)]),
];

type Attributes = ReadonlyMap<string, Record<string, unknown>>;

/** Adds the attributes of users, and leaves out deleted roles, which grant nothing. */
const withAttributes = (
  users: readonly RelatedUser[],
  attributes: Attributes,
  roles: ReadonlySet<string>,
): SnapshotUser[] =>
  users.map(({ id, roleIds }) => {
    const own = attributes.get(id);
    const live = roleIds.filter((roleId) => roles.has(roleId));
    return own ? { id, roleIds: live, attributes: own } : { id, roleIds: live };
  });

const withAttributesOf =
  (attributes: Attributes) =>
  (key: SnapshotKey): SnapshotKey => {
    const own = attributes.get(key.userId);
    return own ? { ...key, attributes: own } : key;
  };

function earliest(times: readonly (number | null)[]): number | null {
  let first: number | null = null;
  for (const time of times) if (time !== null && (first === null || time < first)) first = time;
  return first;
}

const ROWS_PER_TICK = 2000;

/** Passes the rows as JSON to `take`, in parts. @throws SNAPSHOT_TOO_LARGE */
export async function serializeRows(
  rows: Omit<SnapshotRows, 'ended'>,
  size: JsonSize,
  take: (json: string) => void,
): Promise<void> {
  for (const section of Object.keys(rowSections) as RowSection[]) {
    const list = rows[section];
    take(section);
    for (let start = 0; start < list.length; start += ROWS_PER_TICK) {
      const json = JSON.stringify(list.slice(start, start + ROWS_PER_TICK));
      size.add(json);
      take(json);
      await nextTick();
    }
  }
}
