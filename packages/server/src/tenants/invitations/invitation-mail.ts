import type { Config } from '../../config/config.ts';
import { composeMail, formatTime, withoutLinks } from '../../events/mail/mail-layout.ts';
import type { Mail } from '../../kernel/ports.ts';
import type { Language } from '../../languages.ts';

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
      `${inviter} invites you to join the organization “${organization}” on Doorward.`,
      `Your role will be “${role}”.`,
    ],
    button: 'View the invitation',
    small: [
      `The link works once and expires on ${until}.`,
      'If you do not know this person or organization, ignore this e-mail: you only become a member if you accept.',
    ],
  }),
  de: ({ organization, role, inviter }, until) => ({
    subject: `Einladung zu ${organization}`,
    lines: [
      `${inviter} lädt Sie in die Organisation „${organization}“ bei Doorward ein.`,
      `Ihre Rolle ist dann „${role}“.`,
    ],
    button: 'Einladung ansehen',
    small: [
      `Der Link gilt einmal, bis ${until}.`,
      'Wenn Sie diese Person oder Organisation nicht kennen, ignorieren Sie diese E-Mail: Sie werden nur Mitglied, wenn Sie annehmen.',
    ],
  }),
  es: ({ organization, role, inviter }, until) => ({
    subject: `Invitación a ${organization}`,
    lines: [
      `${inviter} le invita a unirse a la organización «${organization}» en Doorward.`,
      `Su rol será «${role}».`,
    ],
    button: 'Ver la invitación',
    small: [
      `El enlace sirve una sola vez y caduca el ${until}.`,
      'Si no conoce a esta persona u organización, ignore este mensaje: solo será miembro si acepta.',
    ],
  }),
  fr: ({ organization, role, inviter }, until) => ({
    subject: `Invitation à ${organization}`,
    lines: [
      `${inviter} vous invite à rejoindre l’organisation « ${organization} » sur Doorward.`,
      `Vous aurez le rôle « ${role} ».`,
    ],
    button: 'Voir l’invitation',
    small: [
      `Le lien fonctionne une seule fois et expire le ${until}.`,
      'Si vous ne connaissez pas cette personne ou cette organisation, ignorez cet e-mail : vous ne deviendrez membre que si vous acceptez.',
    ],
  }),
};

/** The link to the frontend, or to the hosted page of this service if there is no frontend. */
const invitationLink = ({ appUrl, security }: Config, token: string): string =>
  security.frontendUrl === undefined
    ? `${appUrl}/hosted/invitation?token=${token}`
    : `${security.frontendUrl}/invitations/${token}`;

interface Invitation extends Names {
  readonly to: string;
  readonly language: Language;
  readonly token: string;
  readonly expiresAt: Date;
  /** The color and the logo of the organization. */
  readonly brand: { readonly colour: string | null; readonly logoUrl: string | null };
}

/**
 * The mail with the link to accept an invitation; nothing else contains the token in plain text. The inviter chooses
 * its recipient and the names in it, so no name may become a link.
 */
export function invitationMail(
  config: Config,
  { to, language, token, expiresAt, brand, ...names }: Invitation,
): Mail {
  const shown: Names = {
    organization: withoutLinks(names.organization),
    role: withoutLinks(names.role),
    inviter: withoutLinks(names.inviter),
  };
  const { subject, lines, button, small } = texts[language](shown, formatTime(language, expiresAt));
  return composeMail({
    to,
    language,
    // Any stranger can create an organization and invite anyone, so the mail is signed by the service.
    brand: { name: shown.organization, signature: 'Doorward', ...brand },
    subject,
    paragraphs: lines,
    action: { label: button, url: invitationLink(config, token) },
    footnotes: small,
  });
}
