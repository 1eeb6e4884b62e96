import type { OperatorRules } from '../../access/operators.ts';
import type { RelayedEvent } from '../../events/outbox/relay.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { NotifiedType, TextParams } from '../../people/notification-texts/texts.ts';

/**
 * The notification that an event causes: its type, its recipients, and the values of its text. Everything is read when
 * the event is relayed, a moment after it happened. So a user who has left in the meantime is only notified that they
 * left, and a deleted tenant causes no notification.
 */
export type NotificationDraft = {
  readonly [T in NotifiedType]: {
    readonly type: T;
    readonly userIds: readonly string[];
    readonly words: TextParams[T];
    readonly target: { readonly type: string; readonly id: string };
    /** The user whose name `words` contains; the notification is deleted when this user is purged. */
    readonly namedUserId?: string;
  };
}[NotifiedType];

export interface RuleInput {
  readonly tx: Executor;
  readonly event: RelayedEvent;
  readonly now: Date;
  readonly operators: OperatorRules;
}
export type DraftResult = Promise<NotificationDraft | undefined>;

/** Returns the id in a member of the event's data. After an erasure only `id` is left, so it is the fallback. */
export const idIn = ({ body }: RelayedEvent, name: string): string =>
  String(body.data[name] ?? body.data['id']);
