import { and, eq, type SQL } from 'drizzle-orm';
import { passwordProblems } from '../../crypto/password-policy.ts';
import { fail } from '../../errors.ts';
import { composeMail } from '../../events/mail-layout.ts';
import type { Services } from '../../kernel/context.ts';
import type { Actor } from '../../kernel/event.ts';
import type { Mail } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { authenticationMethods, passwords } from '../me/authentication-method.ts';
import { endProofs } from '../sign-in-protection/proofs.ts';
import { endSessions, userData, type Run, type UserRow } from './sign-in.ts';
import { nodeOfUser } from './user-node.ts';
import { flushMails } from './verification.ts';

/** What a password must be like, and what follows when a user gets another one: the same whoever asks for it. */

/** Whose password it is to be: it must not be made of these. */
interface Owner {
  readonly addresses: readonly (string | null)[];
  readonly name: string;
}

/** The policy of identity §2. `path` names the field of the password. @throws VALIDATION_ERROR */
export async function assertPassword(
  { config }: Services,
  password: string,
  { addresses, name }: Owner,
  path: string,
): Promise<void> {
  const { passwordMinLength: minLength } = config.auth;
  const found = await Promise.all(
    addresses.map((email) => passwordProblems(password, { minLength, identity: { email, name } })),
  );
  const codes = [...new Set(found.flat())];
  if (codes.length > 0) throw fail('VALIDATION_ERROR', { details: codes.map((code) => ({ path, code })) });
}

/** What is known of a user, for `assertPassword`: every address that is his, or that he says is. */
export async function ownerOfPassword(db: Executor, user: UserRow): Promise<Owner> {
  const methods = await db
    .select({ address: authenticationMethods.providerId })
    .from(authenticationMethods)
    .where(and(eq(authenticationMethods.userId, user.id), eq(authenticationMethods.provider, 'email')));
  return {
    addresses: [...new Set([user.email, ...methods.map(({ address }) => address)])],
    name: user.name,
  };
}

/**
 * Stores the password and ends what the old one may have opened: sessions, all but those that `endedSessions` leaves
 * out, and what `endProofs` says. Records `user.password_changed` and mails it, to `proved` and to the verified primary
 * address: whoever got into one mailbox does not stay unnoticed in the other. The mail is queued here and not by the
 * notification of the event, which knows nothing of the link's address.
 * The caller holds the user's row lock, so no sign-in with the old password slips in between.
 */
export async function replacePassword(
  ctx: Run,
  user: UserRow,
  hash: string,
  by: { readonly actor: Actor; readonly endedSessions?: SQL; readonly proved?: string },
): Promise<void> {
  const { tx, services, call } = ctx;
  const set = { hash, updatedAt: services.clock.now() };
  await tx
    .insert(passwords)
    .values({ userId: user.id, ...set })
    .onConflictDoUpdate({ target: passwords.userId, set });
  await endProofs(tx, user.id);
  ctx.record({
    actor: by.actor,
    event: 'user.password_changed',
    data: userData(user),
    target: { type: 'User', id: user.id },
    node: await nodeOfUser(tx, user.id),
  });
  await endSessions(ctx, user.id, by.endedSessions, by.actor);
  const told = new Set([by.proved, user.emailVerified ? user.email : null]);
  for (const address of told) {
    if (address) await services.mail.queue(tx, changedMail(address, user.locale ?? call.language));
  }
  flushMails(ctx);
}

type Language = NonNullable<UserRow['locale']>;

const changed: Record<Language, { subject: string; lines: readonly string[]; small: string }> = {
  en: {
    subject: 'Your password was changed',
    lines: [
      'The password of your Doorward account was changed.',
      'Devices that were signed in before have to sign in again with the new password.',
    ],
    small: 'If it was not you, reset the password at once with “Forgot password” on the sign-in page.',
  },
  de: {
    subject: 'Ihr Passwort wurde geändert',
    lines: [
      'Das Passwort Ihres Kontos bei Doorward wurde geändert.',
      'Geräte, die vorher angemeldet waren, müssen sich mit dem neuen Passwort wieder anmelden.',
    ],
    small:
      'Wenn Sie es nicht waren, setzen Sie das Passwort sofort mit „Passwort vergessen“ auf der Anmeldeseite zurück.',
  },
  es: {
    subject: 'Su contraseña ha cambiado',
    lines: [
      'Se ha cambiado la contraseña de su cuenta de Doorward.',
      'Los dispositivos que tenían la sesión abierta deben iniciarla de nuevo con la contraseña nueva.',
    ],
    small:
      'Si no ha sido usted, restablezca la contraseña de inmediato con «He olvidado mi contraseña» en la página de inicio de sesión.',
  },
  fr: {
    subject: 'Votre mot de passe a été modifié',
    lines: [
      'Le mot de passe de votre compte Doorward a été modifié.',
      'Les appareils qui étaient connectés doivent se reconnecter avec le nouveau mot de passe.',
    ],
    small:
      "Si ce n'était pas vous, réinitialisez tout de suite le mot de passe avec « Mot de passe oublié » sur la page de connexion.",
  },
};

/** No link: a mail that warns of strangers should not ask to be clicked. */
function changedMail(to: string, language: Language): Mail {
  const { subject, lines, small } = changed[language];
  return composeMail({ to, language, subject, paragraphs: lines, footnotes: [small] });
}
