import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { email } from '../../kernel/input/values.ts';

/*
 * Conditions for searches over all tenants. Each uses an index, however many rows there are. A search is for an id, an
 * address, the domain of addresses, or the beginnings of words in a name.
 */

const isUuid = (text: string): boolean => z.uuid().safeParse(text).success;

/** SQL condition: each word of the text is the beginning of a word in the name. False for a text without words. */
function matchesWords(name: PgColumn, text: string): SQL {
  const words = text.normalize('NFC').match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return sql`false`;
  const query = words.map((word) => `${word}:*`).join(' & ');
  return sql`to_tsvector('simple', ${name}) @@ to_tsquery('simple', ${query})`;
}

/** The kinds of search text. The kind decides how to search, and the audit log contains it instead of the text. */
type SearchKind = 'id' | 'address' | 'domain' | 'name';

/** Returns whether the text is an id, an address, a domain or a name. */
export function kindOfSearch(text: string): SearchKind {
  if (isUuid(text)) return 'id';
  if (text.startsWith('@')) return 'domain';
  return text.includes('@') ? 'address' : 'name';
}

/** SQL condition for tenants by id, slug or the words of their name. */
export const tenantsBy = (
  text: string,
  { id, slug, name }: { readonly id: PgColumn; readonly slug: PgColumn; readonly name: PgColumn },
): SQL =>
  isUuid(text)
    ? eq(id, text.toLowerCase())
    : sql`(${slug} = ${text.toLowerCase()} or ${matchesWords(name, text)})`;

/** SQL condition for users by id, by a whole address, by `@domain`, or by the words of their name. */
export function usersBy(
  text: string,
  { id, address, name }: { readonly id: PgColumn; readonly address: PgColumn; readonly name: PgColumn },
): SQL | undefined {
  switch (kindOfSearch(text)) {
    case 'id':
      return eq(id, text.toLowerCase());
    case 'domain':
      return sql`split_part(${address}, '@', 2) = ${domainOf(text)}`;
    case 'address': {
      const { success, data } = email.safeParse(text);
      if (!success) return sql`false`;
      return sql`(${address} = ${data} or ${id} in (
        select m.user_id from authentication_methods m where m.label = ${data}))`;
    }
    case 'name':
      return and(matchesWords(name, text));
  }
}

/** Returns the domain as it is spelled in stored addresses. */
function domainOf(text: string): string {
  const { success, data } = email.safeParse(`a${text}`);
  return success ? data.slice(2) : '';
}
