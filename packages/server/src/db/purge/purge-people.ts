import { sql } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { addCounts, BATCH, isDue, deleteBatch, unreferenced, type Counts, type Due } from './purge-rows.ts';
import { idList, rowsOf } from '../statements/rows.ts';
import type { Reference, TableGraph } from './table-graph.ts';

/**
 * A deleted user to erase. The purge deletes everything that belongs to them: methods, passwords, sessions, tokens,
 * memberships. It deletes their row too, unless a remaining row refers to it (a project key that they created, an
 * invitation that they sent). In that case the row stays as a stub with an id and an empty name until the last
 * reference is deleted.
 */
export interface Person {
  readonly id: string;
  /** The user's e-mail addresses in canonical form. */
  readonly addresses: readonly string[];
}

/** Replaces an erased address. It is a valid address with a reserved domain (RFC 2606). */
export const ERASED_ADDRESS = 'erased@erased.invalid';

const PERSON_BATCH = 100;

/** Selects users whose retention has ended and who still have a name, in batches by id. */
export const expiredPeople = (tx: Executor, due: Due, after: string | null): Promise<Person[]> =>
  rowsOf<Person>(
    tx,
    sql`select u.id, coalesce((select json_agg(address) from (
        select m.provider_id as address from authentication_methods m where m.user_id = u.id and m.provider = 'email'
        union select u.email where u.email is not null) known), '[]') as addresses
      from users u where ${isDue('u', due)} and u.name <> ''
        and (${after}::uuid is null or u.id > ${after}::uuid) order by u.id limit ${PERSON_BATCH}`,
  );

/** Columns that mark a row as belonging to a user, or as containing their name. */
const OWN_COLUMNS = ['user_id', 'named_user_id'];

/**
 * Whether the referencing row belongs to the user. Soft-deletable rows, and rows that only refer to the user by id, do
 * not.
 */
const isPersonal = ({ from, column, cascades }: Reference): boolean =>
  OWN_COLUMNS.includes(column) && !from.isMarked && !cascades;

/** Removes the rows that belong to the user and clears their own row. */
export async function purgePerson(tx: Executor, graph: TableGraph, person: Person): Promise<Counts> {
  const { id, addresses } = person;
  const counts: Counts = {};
  for (const { from, column } of graph.referencesTo('users').filter(isPersonal)) {
    const where = sql`${sql.identifier(column)} = ${id}::uuid`;
    for (let deleted = BATCH; deleted === BATCH;) {
      deleted = await deleteBatch(tx, from.name, where);
      if (deleted > 0) addCounts(counts, { [from.name]: deleted });
    }
  }
  // Keys without a role belong to the user alone, whether deleted or not. Their secrets are deleted by cascade.
  const isOwn = sql`user_id = ${id}::uuid and scope_tenant in ('ProjectUser', 'Organization', 'Account')`;
  const keys = await deleteBatch(tx, 'api_keys', isOwn);
  if (keys > 0) addCounts(counts, { api_keys: keys });
  // Stored responses to the user's requests.
  await tx.execute(sql`delete from idempotency_keys where credential = ${id}`);
  if (addresses.length > 0) {
    // Accepted and revoked invitations send no more mail. A pending invitation belongs to the organization and stays.
    await tx.execute(sql`update organization_invitations set email = ${ERASED_ADDRESS}
      where status in ('accepted', 'revoked') and email in (${sql.join(
        addresses.map((address) => sql`${address}`),
        sql`, `,
      )})`);
  }
  await tx.execute(sql`update users set name = '', email = null, email_verified = false, picture_url = null,
    locale = null, managed_by = null, verification_deadline = null where id = ${id}::uuid`);
  return addCounts(counts, { erased: 1 });
}

/** Deletes stubs that no row refers to any more. */
export async function purgeStubs(tx: Executor, graph: TableGraph, due: Due): Promise<Counts> {
  const rows = await rowsOf<{ id: string }>(
    tx,
    sql`select t.id from users t where ${isDue('t', due)} and t.name = ''
      and ${unreferenced(graph.referencesTo('users'))} order by t.id limit ${BATCH} for update of t skip locked`,
  );
  if (rows.length === 0) return {};
  const users = await deleteBatch(tx, 'users', sql`id in ${idList(rows.map(({ id }) => id))}`);
  return users > 0 ? { users } : {};
}
