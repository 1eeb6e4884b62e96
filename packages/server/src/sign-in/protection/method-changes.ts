import { composeMail, withoutLinks } from '../../events/mail/mail-layout.ts';
import type { Actor, NodeRef } from '../../kernel/event.ts';
import type { authenticationMethods } from '../../schema/sign-in/authentication-method.ts';
import { textOf, type TextParams } from '../../people/notification-texts/texts.ts';
import type { Run } from '../../services.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { flushMails } from '../../people/flush-mails.ts';

type Method = Pick<typeof authenticationMethods.$inferSelect, 'label' | 'isVerified'>;

/** A sign-in method that changed: an AuthenticationMethod or a passkey. */
interface ChangedMethod {
  readonly id: string;
  readonly provider: TextParams['sign_in_methods_changed']['provider'];
  readonly label: string;
}

interface Change {
  readonly change: TextParams['sign_in_methods_changed']['change'];
  readonly method: ChangedMethod;
  /** All methods of the user before the change. */
  readonly before: readonly Method[];
  /** Default: the caller. */
  readonly actor?: Actor;
}

/**
 * Records a change of the user's sign-in methods, and mails it to every address that they had verified before. So an
 * attacker with brief access can neither add a method unnoticed nor remove the address that would get the warning. The
 * mails are queued here rather than by the event's notification, which does not know a removed address.
 */
export async function recordMethodChange(
  ctx: Run,
  user: UserRow,
  { change, method, before, actor }: Change,
): Promise<void> {
  const { tx, services, call } = ctx;
  const { provider, label } = method;
  // A user's addresses decide whether an organization requires its provider for them, which is part of the cached
  // rights.
  ctx.invalidate(`user:${user.id}`);
  const node: NodeRef | undefined = await nodeOfUser(tx, user.id);
  ctx.record({
    actor,
    event: 'user.sign_in_methods_changed',
    data: { id: user.id, change, provider, label },
    target: { type: provider === 'passkey' ? 'Passkey' : 'AuthenticationMethod', id: method.id },
    node,
  });
  const addresses = new Set(before.filter(({ isVerified }) => isVerified).map((method) => method.label));
  const language = user.locale ?? call.language;
  const words = { change, provider, label: withoutLinks(label) };
  const { title, body } = textOf(language, 'sign_in_methods_changed', words, services.clock.now());
  for (const to of addresses) {
    // Contains no link: a security warning must not train users to click.
    await services.mail.queue(tx, composeMail({ to, language, subject: title, paragraphs: [body] }));
  }
  if (addresses.size > 0) flushMails(ctx);
}
