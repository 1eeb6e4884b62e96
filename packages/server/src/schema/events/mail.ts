import { index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { time } from '../columns.ts';

/** The queue of mails: written in the transaction that causes them, and kept until they are sent. */
export const mails = pgTable(
  'mails',
  {
    id: uuid('id').primaryKey(),
    /** Address, subject and bodies, encrypted: a mail contains a token that a database dump must not reveal. */
    sealed: text('sealed').notNull(),
    /** A keyed hash of the address, used to find the mails of a deleted user. */
    recipient: text('recipient'),
    attempts: integer('attempts').notNull().default(0),
    nextAttemptAt: time('next_attempt_at').notNull().defaultNow(),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [index('mails_due').on(table.nextAttemptAt)],
);
