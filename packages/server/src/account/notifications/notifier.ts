import { and, eq, inArray, isNull } from 'drizzle-orm';
import { composeMail, withoutLinks } from '../../events/mail/mail-layout.ts';
import type { Consumer, RelayedEvent } from '../../events/outbox/relay.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { consumeMailQuota } from '../../sign-in/protection/mail-limit.ts';
import { users } from '../../schema/people/user.ts';
import { kindOf, notifications } from '../../schema/people/notification.ts';
import type { NotificationDraft } from './notification-draft.ts';
import { notificationRules } from './notification-rules.ts';
import { acceptingUsers } from './preferences.ts';
import { textOf, preferencesFootnote, type TextParams } from '../../people/notification-texts/texts.ts';

type Recipient = typeof users.$inferSelect;

/**
 * Creates the consumer that turns events into notifications and mails (events §6), according to each user's preferences
 * and in their language. Mail goes only to a verified primary address. The user who acted gets no notification, except
 * about security: an attacker may have acted as them. An API key that acts for a user does not count as that user.
 */
export function createNotifier(services: Services): Consumer {
  const { mail, ids, clock, config } = services;

  return {
    takes: (type) => notificationRules.has(type),

    async consume(tx, event) {
      const draft = await notificationRules.get(event.type)?.({
        tx,
        event,
        now: clock.now(),
        operators: config.operators,
      });
      if (!draft) return;
      const { type, words, target, namedUserId = null } = draft;
      const recipients = await recipientsOf(tx, draft, event);
      if (recipients.length === 0) return;
      const accepts = await acceptingUsers(
        tx,
        type,
        recipients.map(({ id }) => id),
      );
      const rows = recipients
        .filter(({ id }) => accepts(id, 'inApp'))
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
      for (const reader of recipients)
        if (accepts(reader.id, 'email')) await sendMail(tx, reader, draft, event);
    },
  };

  async function sendMail(
    tx: Executor,
    recipient: Recipient,
    { type, words }: NotificationDraft,
    event: RelayedEvent,
  ) {
    const { id, email, emailVerified, locale } = recipient;
    if (!email || !emailVerified) return;
    // Other users can cause these notifications at any rate, so their mails are limited. Security warnings are not.
    if (!kindOf(type).security && !(await consumeMailQuota(services, 'notification', id))) return;
    const language = locale ?? 'en';
    const { title, body } = textOf(language, type, withoutLinksIn(words), event.occurredAt);
    const footnotes = kindOf(type).locked.includes('email') ? [] : [preferencesFootnote[language]];
    // The mail contains no link: a security warning must not train users to click.
    await mail.queue(tx, composeMail({ to: email, language, subject: title, paragraphs: [body], footnotes }));
  }
}

/** The recipients who can read the notification: active users with a sign-in. */
async function recipientsOf(
  tx: Executor,
  { type, userIds }: NotificationDraft,
  { body }: RelayedEvent,
): Promise<Recipient[]> {
  const { actor } = body;
  const recipientIds = userIds.filter(
    (id) => kindOf(type).security || !(actor.type === 'user' && actor.userId === id),
  );
  if (recipientIds.length === 0) return [];
  return tx
    .select()
    .from(users)
    .where(
      and(
        inArray(users.id, recipientIds),
        isNull(users.deletedAt),
        eq(users.isManaged, false),
        eq(users.status, 'active'),
      ),
    );
}

/** Returns the values as they may appear in a mail: without links in names. A network address is not a name. */
const withoutLinksIn = <W extends TextParams[keyof TextParams]>(words: W): W =>
  Object.fromEntries(
    Object.entries(words as Record<string, unknown>).map(([hole, word]) => [
      hole,
      typeof word !== 'string' || hole === 'address' ? word : withoutLinks(word),
    ]),
  ) as W;
