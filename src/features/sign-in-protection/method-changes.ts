import { composeMail, withoutLinks } from '../../events/mail-layout.ts';
import type { Actor, NodeRef } from '../../kernel/event.ts';
import type { authenticationMethods } from '../me/authentication-method.ts';
import { textOf, type Words } from '../notifications/texts.ts';
import type { Run, UserRow } from '../identity/sign-in.ts';
import { nodeOfUser } from '../identity/user-node.ts';
import { flushMails } from '../identity/verification.ts';

type Method = Pick<typeof authenticationMethods.$inferSelect, 'id' | 'provider' | 'label' | 'isVerified'>;

interface Change {
  readonly change: Words['sign_in_methods_changed']['change'];
  readonly method: Method;
  /** All methods of the user as they were. */
  readonly before: readonly Method[];
  /** Absent: the caller. */
  readonly actor?: Actor;
}

/**
 * Records a change of the ways in which a user signs in, and mails it to every address that they had verified before.
 * So an attacker with short access can neither add a way to sign in unnoticed, nor remove the address to which the
 * warning would go. The mails are queued here and not by the notification of the event, which no longer knows an
 * address that was removed.
 */
export async function recordMethodChange(
  ctx: Run,
  user: UserRow,
  { change, method, before, actor }: Change,
): Promise<void> {
  const { tx, services, call } = ctx;
  const { provider, label } = method;
  const node: NodeRef | undefined = await nodeOfUser(tx, user.id);
  ctx.record({
    actor,
    event: 'user.sign_in_methods_changed',
    data: { id: user.id, change, provider, label },
    target: { type: 'AuthenticationMethod', id: method.id },
    node,
  });
  const addresses = new Set(before.filter(({ isVerified }) => isVerified).map((one) => one.label));
  const language = user.locale ?? call.language;
  const words = { change, provider, label: withoutLinks(label) };
  const { title, body } = textOf(language, 'sign_in_methods_changed', words, services.clock.now());
  for (const to of addresses) {
    // No link: a mail that warns of strangers should not ask to be clicked.
    await services.mail.queue(tx, composeMail({ to, language, subject: title, paragraphs: [body] }));
  }
  if (addresses.size > 0) flushMails(ctx);
}
