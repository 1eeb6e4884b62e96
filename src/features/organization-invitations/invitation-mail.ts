import type { Config } from '../../config.ts';
import { composeMail, timeInWords, withoutLinks } from '../../events/mail-layout.ts';
import type { Mail } from '../../kernel/ports.ts';

/** The mail that invites somebody into an organization: the only place where the token stands in plain. */
type Language = 'en' | 'de' | 'es' | 'fr';

interface Names {
  readonly organization: string;
  readonly role: string;
  readonly inviter: string;
}

interface Texts {
  readonly subject: string;
  readonly lines: readonly string[];
  readonly button: string;
  readonly small: readonly string[];
}

const texts: Record<Language, (names: Names, until: string) => Texts> = {
  en: ({ organization, role, inviter }, until) => ({
    subject: `Invitation to ${organization}`,
    lines: [
      `${inviter} invites you to join the organization “${organization}” at Doorward.`,
      `Your role there would be “${role}”.`,
    ],
    button: 'View the invitation',
    small: [
      `The link works once, until ${until}.`,
      'If you do not know who invites you, ignore this mail: without the link nothing happens.',
    ],
  }),
  de: ({ organization, role, inviter }, until) => ({
    subject: `Einladung zu ${organization}`,
    lines: [
      `${inviter} lädt Sie in die Organisation „${organization}“ bei Doorward ein.`,
      `Ihre Rolle dort wäre „${role}“.`,
    ],
    button: 'Einladung ansehen',
    small: [
      `Der Link gilt einmal, bis ${until}.`,
      'Wenn Sie nicht wissen, wer Sie einlädt, ignorieren Sie diese E-Mail: Ohne den Link geschieht nichts.',
    ],
  }),
  es: ({ organization, role, inviter }, until) => ({
    subject: `Invitación a ${organization}`,
    lines: [
      `${inviter} le invita a unirse a la organización «${organization}» en Doorward.`,
      `Su rol en ella sería «${role}».`,
    ],
    button: 'Ver la invitación',
    small: [
      `El enlace sirve una sola vez, hasta ${until}.`,
      'Si no sabe quién le invita, ignore este mensaje: sin el enlace no ocurre nada.',
    ],
  }),
  fr: ({ organization, role, inviter }, until) => ({
    subject: `Invitation à ${organization}`,
    lines: [
      `${inviter} vous invite à rejoindre l'organisation « ${organization} » sur Doorward.`,
      `Vous y auriez le rôle « ${role} ».`,
    ],
    button: "Voir l'invitation",
    small: [
      `Le lien fonctionne une seule fois, jusqu'au ${until}.`,
      'Si vous ne savez pas qui vous invite, ignorez ce message : sans le lien, il ne se passe rien.',
    ],
  }),
};

/** Where the link of a mail leads: to the frontend, or to our own page when there is none. */
const invitationLink = ({ appUrl, security }: Config, token: string): string =>
  security.frontendUrl === undefined
    ? `${appUrl}/hosted/invitation?token=${token}`
    : `${security.frontendUrl}/invitations/${token}`;

interface Inviting extends Names {
  readonly to: string;
  readonly language: Language;
  readonly token: string;
  readonly expiresAt: Date;
}

/** The mail goes to whomever the inviter names, and the names in it are chosen by him. */
export function invitationMail(config: Config, { to, language, token, expiresAt, ...names }: Inviting): Mail {
  const shown: Names = {
    organization: withoutLinks(names.organization),
    role: withoutLinks(names.role),
    inviter: withoutLinks(names.inviter),
  };
  const { subject, lines, button, small } = texts[language](shown, timeInWords(language, expiresAt));
  return composeMail({
    to,
    language,
    subject,
    paragraphs: lines,
    action: { label: button, url: invitationLink(config, token) },
    footnotes: small,
  });
}
