import { and, eq } from 'drizzle-orm';
import { composeMail, formatTime, withoutLinks } from '../../events/mail/mail-layout.ts';
import { authenticationMethods } from '../../schema/sign-in/authentication-method.ts';
import { flushMails } from '../../people/flush-mails.ts';
import { users, type UserRow } from '../../schema/people/user.ts';
import type { Run } from '../../services.ts';

type Text = (name: string, time: string) => { readonly subject: string; readonly body: string };

const texts: Readonly<Record<NonNullable<UserRow['locale']>, Text>> = {
  en: (name, time) => ({
    subject: 'A sign-in with your passkey was refused',
    body: `On ${time} the passkey “${name}” was used with an old counter. Somebody may have a copy of it. The sign-in was refused. Remove this passkey from your account, and add a new one.`,
  }),
  de: (name, time) => ({
    subject: 'Eine Anmeldung mit Ihrem Passkey wurde abgelehnt',
    body: `Am ${time} wurde der Passkey „${name}“ mit einem alten Zählerstand verwendet. Möglicherweise hat jemand eine Kopie davon. Die Anmeldung wurde abgelehnt. Entfernen Sie diesen Passkey aus Ihrem Konto und fügen Sie einen neuen hinzu.`,
  }),
  es: (name, time) => ({
    subject: 'Se ha rechazado un inicio de sesión con su llave de acceso',
    body: `El ${time} se usó la llave de acceso «${name}» con un contador antiguo. Es posible que alguien tenga una copia. El inicio de sesión se rechazó. Elimine esta llave de acceso de su cuenta y añada una nueva.`,
  }),
  fr: (name, time) => ({
    subject: 'Une connexion avec votre clé d’accès a été refusée',
    body: `Le ${time}, la clé d’accès « ${name} » a été utilisée avec un ancien compteur. Quelqu’un en possède peut-être une copie. La connexion a été refusée. Supprimez cette clé d’accès de votre compte et ajoutez-en une nouvelle.`,
  }),
};

/**
 * Notifies the user, at every verified address, that the counter of their passkey went back, so that a copy of the key
 * may exist (WebAuthn, 6.1.1). Contains no link: a security warning must not train users to click.
 */
export async function mailClonedPasskey(ctx: Run, userId: string, passkeyName: string): Promise<void> {
  const { tx, services, call } = ctx;
  const methods = await tx
    .select({ address: authenticationMethods.label, locale: users.locale })
    .from(authenticationMethods)
    .innerJoin(users, eq(users.id, authenticationMethods.userId))
    .where(and(eq(authenticationMethods.userId, userId), eq(authenticationMethods.isVerified, true)));
  const language = methods[0]?.locale ?? call.language;
  const time = formatTime(language, services.clock.now());
  const { subject, body } = texts[language](withoutLinks(passkeyName), time);
  for (const to of new Set(methods.map(({ address }) => address))) {
    await services.mail.queue(tx, composeMail({ to, language, subject, paragraphs: [body] }));
  }
  flushMails(ctx);
}
