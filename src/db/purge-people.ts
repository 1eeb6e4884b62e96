import { sql } from 'drizzle-orm';
import type { Executor } from '../kernel/scoped-db.ts';
import { add, BATCH, isDue, removeSome, unreferenced, type Counts, type Due } from './purge-rows.ts';
import { idList, rowsOf } from './rows.ts';
import type { Reference, TableGraph } from './table-graph.ts';

/**
 * The end of a person. Whatever is his own goes: methods, passwords, sessions, tokens, what tenants said of him. His
 * row goes too, unless something that lives on names him (a project's key that he made, an invitation that he sent):
 * then it stays as a stub that has an id and a name of no letters, and goes with the last of these.
 */
export interface Person {
  readonly id: string;
  /** Canonical. */
  readonly addresses: readonly string[];
}

/** Stands where an address was, in a form that can be answered as one. Nobody can have it (RFC 2606). */
export const ERASED_ADDRESS = 'erased@erased.invalid';

const PEOPLE = 100;

/** Users whose time has come and who are still known by name, in pages by id. */
export const expiredPeople = (tx: Executor, due: Due, after: string | null): Promise<Person[]> =>
  rowsOf<Person>(
    tx,
    sql`select u.id, coalesce((select json_agg(address) from (
        select m.provider_id as address from authentication_methods m where m.user_id = u.id and m.provider = 'email'
        union select u.email where u.email is not null) known), '[]') as addresses
      from users u where ${isDue('u', due)} and u.name <> ''
        and (${after}::uuid is null or u.id > ${after}::uuid) order by u.id limit ${PEOPLE}`,
  );

/** Columns that make a row the person's own, or a text with his name in it. */
const OWN = ['user_id', 'named_user_id'];

/** A row that is marked before it goes leads a life of its own, and so does one that only mentions the user by id. */
const isOwn = ({ from, column, cascades }: Reference): boolean =>
  OWN.includes(column) && !from.isMarked && !cascades;

/** Removes everything that is the person's own, and his row or what it says. */
export async function purgePerson(tx: Executor, graph: TableGraph, person: Person): Promise<Counts> {
  const { id, addresses } = person;
  const counts: Counts = {};
  for (const { from, column } of graph.referencesTo('users').filter(isOwn)) {
    const where = sql`${sql.identifier(column)} = ${id}::uuid`;
    for (let gone = BATCH; gone === BATCH;) {
      gone = await removeSome(tx, from.name, where);
      if (gone > 0) add(counts, { [from.name]: gone });
    }
  }
  // His own wherever they were, deleted or not: a ProjectUser key is nobody else's. Secrets go with them.
  const keys = await removeSome(tx, 'api_keys', sql`user_id = ${id}::uuid and scope_tenant = 'ProjectUser'`);
  if (keys > 0) add(counts, { api_keys: keys });
  // Kept answers to what he asked.
  await tx.execute(sql`delete from idempotency_keys where credential = ${id}`);
  if (addresses.length > 0) {
    // In a final state nothing is sent to the address any more; a pending one is the organization's, not the person's.
    await tx.execute(sql`update organization_invitations set email = ${ERASED_ADDRESS}
      where status in ('accepted', 'revoked') and email in (${sql.join(
        addresses.map((address) => sql`${address}`),
        sql`, `,
      )})`);
  }
  await tx.execute(sql`update users set name = '', email = null, email_verified = false, picture_url = null,
    locale = null, managed_by = null, verification_deadline = null where id = ${id}::uuid`);
  return add(counts, { erased: 1 });
}

/** Removes stubs to which nothing refers any more. */
export async function purgeStubs(tx: Executor, graph: TableGraph, due: Due): Promise<Counts> {
  const rows = await rowsOf<{ id: string }>(
    tx,
    sql`select t.id from users t where ${isDue('t', due)} and t.name = ''
      and ${unreferenced(graph.referencesTo('users'))} order by t.id limit ${BATCH} for update of t skip locked`,
  );
  if (rows.length === 0) return {};
  const users = await removeSome(tx, 'users', sql`id in ${idList(rows.map(({ id }) => id))}`);
  return users > 0 ? { users } : {};
}
