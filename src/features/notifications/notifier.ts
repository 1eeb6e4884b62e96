import { and, eq, inArray, isNull } from 'drizzle-orm';
import { composeMail, withoutLinks } from '../../events/mail-layout.ts';
import type { Consumer, RelayedEvent } from '../../events/relay.ts';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { mayMail } from '../sign-in-protection/mail-limit.ts';
import { users } from '../users/user.ts';
import { kindOf, notifications } from './notification.ts';
import { occasions, type Occasion } from './occasions.ts';
import { reachedBy } from './preferences.ts';
import { textOf, whyMailed, type Words } from './texts.ts';

/**
 * Turns events into notifications and mails (events §6), by the preferences of each user and in his language. Mail goes
 * to a verified primary address only. Who did it himself is not told, unless it is a matter of security: then it may
 * not have been he. A key that acts in his name is not he either.
 */
type Reader = typeof users.$inferSelect;

export function createNotifier(services: Services): Consumer {
  const { mail, ids, clock } = services;

  return {
    takes: (type) => occasions.has(type),

    async consume(tx, event) {
      const occasion = await occasions.get(event.type)?.({ tx, event, now: clock.now() });
      if (!occasion) return;
      const { type, words, target, namedUserId = null } = occasion;
      const readers = await readersOf(tx, occasion, event);
      if (readers.length === 0) return;
      const wants = await reachedBy(
        tx,
        type,
        readers.map(({ id }) => id),
      );
      const rows = readers
        .filter(({ id }) => wants(id, 'inApp'))
        .map(({ id, locale }) => ({
          id: ids.next(),
          userId: id,
          type,
          ...textOf(locale ?? 'en', type, words, event.occurredAt),
          target,
          scope: event.body.scope,
          eventId: event.body.id,
          createdAt: clock.now(),
          namedUserId,
        }));
      if (rows.length > 0) await tx.insert(notifications).values(rows);
      if (kindOf(type).mailedByAct) return;
      for (const reader of readers)
        if (wants(reader.id, 'email')) await sendMail(tx, reader, occasion, event);
    },
  };

  async function sendMail(tx: Executor, reader: Reader, { type, words }: Occasion, event: RelayedEvent) {
    const { id, email, emailVerified, locale } = reader;
    if (!email || !emailVerified) return;
    // Others make these happen, as often as they like; a warning is never held back.
    if (!kindOf(type).security && !(await mayMail(services, 'notification', id))) return;
    const language = locale ?? 'en';
    const { title, body } = textOf(language, type, unlinked(words), event.occurredAt);
    const footnotes = kindOf(type).locked.includes('email') ? [] : [whyMailed[language]];
    // No link: a mail that warns of strangers should not ask to be clicked.
    await mail.queue(tx, composeMail({ to: email, language, subject: title, paragraphs: [body], footnotes }));
  }
}

/** Users who can read it: alive, with a sign-in of their own. */
async function readersOf(
  tx: Executor,
  { type, userIds }: Occasion,
  { body }: RelayedEvent,
): Promise<Reader[]> {
  const { actor } = body;
  const told = userIds.filter(
    (id) => kindOf(type).security || !(actor.type === 'user' && actor.userId === id),
  );
  if (told.length === 0) return [];
  return tx
    .select()
    .from(users)
    .where(
      and(
        inArray(users.id, told),
        isNull(users.deletedAt),
        eq(users.isManaged, false),
        eq(users.status, 'active'),
      ),
    );
}

/** Names as they may stand in a mail; an address of the network is none. */
const unlinked = <W extends Words[keyof Words]>(words: W): W =>
  Object.fromEntries(
    Object.entries(words as Record<string, unknown>).map(([hole, word]) => [
      hole,
      typeof word !== 'string' || hole === 'address' ? word : withoutLinks(word),
    ]),
  ) as W;
