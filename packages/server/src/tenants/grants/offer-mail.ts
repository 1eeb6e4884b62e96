import type { Config } from '../../config/config.ts';
import { composeMail, formatTime, withoutLinks } from '../../events/mail/mail-layout.ts';
import type { Mail } from '../../kernel/ports.ts';
import type { Language } from '../../languages.ts';

interface Names {
  readonly project: string;
  readonly owner: string;
}

interface Texts {
  readonly subject: string;
  readonly lines: readonly string[];
  readonly button: string;
  readonly small: readonly string[];
}

const texts: Record<Language, (names: Names, until: string) => Texts> = {
  en: ({ project, owner }, until) => ({
    subject: `${owner} grants you access to ${project}`,
    lines: [
      `${owner} offers your organization the project “${project}” on Doorward.`,
      'An administrator of your organization accepts the offer, and then decides who of you gets which role.',
    ],
    button: 'View the offer',
    small: [
      `The link works once and expires on ${until}.`,
      'If you do not know the sender, ignore this e-mail: nothing happens unless you accept.',
    ],
  }),
  de: ({ project, owner }, until) => ({
    subject: `${owner} gibt Ihnen Zugang zu ${project}`,
    lines: [
      `${owner} bietet Ihrer Organisation das Projekt „${project}“ bei Doorward an.`,
      'Wer Ihre Organisation verwaltet, nimmt das Angebot an und bestimmt dann, wer bei Ihnen welche Rolle bekommt.',
    ],
    button: 'Angebot ansehen',
    small: [
      `Der Link gilt einmal, bis ${until}.`,
      'Wenn Sie den Absender nicht kennen, ignorieren Sie diese E-Mail: Ohne Ihre Annahme geschieht nichts.',
    ],
  }),
  es: ({ project, owner }, until) => ({
    subject: `${owner} le da acceso a ${project}`,
    lines: [
      `${owner} ofrece a su organización el proyecto «${project}» en Doorward.`,
      'Quien administra su organización acepta la oferta y decide después quién recibe cada rol.',
    ],
    button: 'Ver la oferta',
    small: [
      `El enlace sirve una sola vez y caduca el ${until}.`,
      'Si no conoce al remitente, ignore este mensaje: no ocurre nada si no acepta.',
    ],
  }),
  fr: ({ project, owner }, until) => ({
    subject: `${owner} vous donne accès à ${project}`,
    lines: [
      `${owner} propose à votre organisation le projet « ${project} » sur Doorward.`,
      'Une personne qui administre votre organisation accepte l’offre, puis décide qui reçoit quel rôle.',
    ],
    button: 'Voir l’offre',
    small: [
      `Le lien fonctionne une seule fois et expire le ${until}.`,
      'Si vous ne connaissez pas l’expéditeur, ignorez cet e-mail : rien ne se passe sans votre accord.',
    ],
  }),
};

/** The link to the frontend, or to the hosted page of this service if there is no frontend. */
const offerLink = ({ appUrl, security }: Config, token: string): string =>
  security.frontendUrl === undefined
    ? `${appUrl}/hosted/project-grant?token=${token}`
    : `${security.frontendUrl}/project-grants/${token}`;

interface Offer extends Names {
  readonly to: string;
  readonly language: Language;
  readonly token: string;
  readonly expiresAt: Date;
}

/**
 * The mail with the link to an offer; nothing else contains the token in plain text. The owner of the project chooses
 * its recipient and the names in it, so no name may become a link.
 */
export function offerMail(config: Config, { to, language, token, expiresAt, ...names }: Offer): Mail {
  const shown = { project: withoutLinks(names.project), owner: withoutLinks(names.owner) };
  const { subject, lines, button, small } = texts[language](shown, formatTime(language, expiresAt));
  return composeMail({
    to,
    language,
    subject,
    paragraphs: lines,
    action: { label: button, url: offerLink(config, token) },
    footnotes: small,
  });
}
