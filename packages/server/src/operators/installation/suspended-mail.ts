import { composeMail, withoutLinks } from '../../events/mail/mail-layout.ts';
import type { Mail } from '../../kernel/ports.ts';
import type { users } from '../../schema/people/user.ts';

type Language = NonNullable<(typeof users.$inferSelect)['locale']>;

const texts: Record<Language, { subject: string; line: string; reason: (text: string) => string }> = {
  en: {
    subject: 'Your account was suspended',
    line: 'An operator of this service suspended your account. You cannot sign in, and your sessions no longer work.',
    reason: (text) => `The reason given: ${text}`,
  },
  de: {
    subject: 'Ihr Konto wurde gesperrt',
    line: 'Ein Betreiber dieses Dienstes hat Ihr Konto gesperrt. Sie können sich nicht anmelden, und Ihre Sitzungen gelten nicht mehr.',
    reason: (text) => `Der angegebene Grund: ${text}`,
  },
  es: {
    subject: 'Su cuenta ha sido suspendida',
    line: 'Un operador de este servicio ha suspendido su cuenta. No puede iniciar sesión y sus sesiones ya no son válidas.',
    reason: (text) => `El motivo indicado: ${text}`,
  },
  fr: {
    subject: 'Votre compte a été suspendu',
    line: 'Un opérateur de ce service a suspendu votre compte. Vous ne pouvez pas vous connecter, et vos sessions ne sont plus valables.',
    reason: (text) => `Le motif indiqué : ${text}`,
  },
};

/** The mail to a suspended user, who cannot read notifications. */
export function suspendedMail(to: string, language: Language, reason: string): Mail {
  const { subject, line, reason: reasonGiven } = texts[language];
  return composeMail({
    to,
    language,
    subject,
    paragraphs: [line, reasonGiven(withoutLinks(reason))],
    footnotes: [],
  });
}
