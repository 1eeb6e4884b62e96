import { asc, eq, gt, inArray, lte, or, sql } from 'drizzle-orm';
import { createHmac } from 'node:crypto';
import type { Kek } from '../../crypto/keys/kek.ts';
import type { Clock, Ids, Mail, Mailer } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { createSharedPass } from '../outbox/shared-pass.ts';
import { mails } from '../../schema/events/mail.ts';

/**
 * The mail outbox: mails are queued in the transaction that needs them and sent after its commit (events §6). A mail
 * may contain a token, so its row is sealed and its content is never logged.
 *
 * A process leases a mail with one statement that moves its next attempt into the future. No other process takes it in
 * the meantime, no transaction is open during SMTP, and after the lease another process sends the mail of a killed
 * process.
 */
export interface MailOutbox {
  /** Stores the sealed mail in the open transaction. */
  queue(tx: Executor, mail: Mail): Promise<void>;
  /** Deletes queued mails to these addresses in the open transaction. */
  discard(tx: Executor, addresses: readonly string[]): Promise<void>;
  /** Sends all due mails; never rejects. Concurrent calls share one pass. */
  flush(): Promise<void>;
}

interface MailOutboxOptions {
  readonly pool: Executor;
  readonly kek: Kek;
  readonly mailer: Mailer;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: (error: unknown, message: string) => void;
}

const MINUTE_MS = 60_000;
/** Longer than a mail server normally takes to accept or refuse a mail. */
const LEASE_MS = 10 * MINUTE_MS;
const FIRST_WAIT_MS = MINUTE_MS / 2;
const LONGEST_WAIT_MS = 120 * MINUTE_MS;
/**
 * A mail is given up if its next attempt would be more than a day after it was queued, because a link that arrives so
 * late is useless.
 */
const GIVE_UP_AFTER_MS = 24 * 60 * MINUTE_MS;

/** Half a minute after the first failure, then twice as long each time, at most two hours. */
const waitAfter = (attempts: number): number =>
  Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), LONGEST_WAIT_MS);

const sealedAs = (id: string): string => `mails:${id}`;

export function createMailOutbox({ pool, kek, mailer, clock, ids, log }: MailOutboxOptions): MailOutbox {
  /** A keyed hash that identifies the mails to an address without storing the address. */
  const recipientOf = (key: Buffer, address: string): string =>
    createHmac('sha256', key).update(address).digest('base64url');

  const after = (milliseconds: number): Date => new Date(clock.now().getTime() + milliseconds);

  /** Leases the mail that has been due for longest; undefined if none is due. */
  async function claim() {
    const due = pool
      .select({ id: mails.id })
      .from(mails)
      // A next attempt that is too far in the future was set before the system clock was set back, so it counts as due.
      .where(or(lte(mails.nextAttemptAt, clock.now()), gt(mails.nextAttemptAt, after(2 * LONGEST_WAIT_MS))))
      .orderBy(asc(mails.nextAttemptAt), asc(mails.id))
      .limit(1)
      .for('update', { skipLocked: true });
    const [mail] = await pool
      .update(mails)
      .set({ attempts: sql`${mails.attempts} + 1`, nextAttemptAt: after(LEASE_MS) })
      // `=` rather than `in`: a scalar subquery runs once, so exactly one row is locked and leased.
      .where(sql`${mails.id} = ${due}`)
      .returning();
    return mail;
  }

  const remove = (id: string) => pool.delete(mails).where(eq(mails.id, id));

  /** Tries to send one mail. Returns whether one was due. */
  async function sendNext(): Promise<boolean> {
    const row = await claim();
    if (!row) return false;
    const { id, sealed, attempts, createdAt } = row;
    try {
      await mailer.send(JSON.parse(kek.open(sealed, sealedAs(id)).toString()) as Mail);
    } catch (error) {
      const wait = waitAfter(attempts);
      if (after(wait).getTime() - createdAt.getTime() > GIVE_UP_AFTER_MS) {
        await remove(id);
        log(error, 'a mail could not be sent within a day and was given up');
      } else {
        await pool
          .update(mails)
          .set({ nextAttemptAt: after(wait) })
          .where(eq(mails.id, id));
        log(error, 'a mail could not be sent and will be tried again');
      }
      return true;
    }
    await remove(id);
    return true;
  }

  return {
    async queue(tx, mail) {
      const id = ids.next();
      const now = clock.now();
      const sealed = kek.seal(JSON.stringify(mail), sealedAs(id));
      const recipient = recipientOf(kek.derive('mail-recipient'), mail.to);
      await tx.insert(mails).values({ id, sealed, recipient, nextAttemptAt: now, createdAt: now });
    },

    async discard(tx, addresses) {
      const recipients = kek
        .deriveAll('mail-recipient')
        .flatMap((key) => addresses.map((address) => recipientOf(key, address)));
      if (recipients.length > 0) await tx.delete(mails).where(inArray(mails.recipient, recipients));
    },

    flush: createSharedPass(sendNext, (error) => log(error, 'mails could not be read from the database')),
  };
}
