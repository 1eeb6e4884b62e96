import type { components } from '@doorward/node/client';
import type { EntityTexts } from '../../../entities/declarations/entity.ts';
import type { Texts } from '../../../i18n/language.ts';

type Status = components['schemas']['InvitationStatus'];

export interface InvitationTexts extends EntityTexts {
  readonly roleHint: string;
  readonly statuses: Readonly<Record<Status, string>>;
  readonly invitedBy: string;
  readonly expires: string;
  readonly sent: string;
  readonly addresses: string;
  readonly addressesHint: string;
  readonly needAddress: string;
  readonly needRole: string;
  readonly invite: string;
  readonly invited: string;
  readonly resend: string;
  readonly renew: string;
  readonly revoke: string;
  readonly resending: string;
  readonly revoking: string;
  readonly mailed: string;
}

export const invitationTexts: Texts<InvitationTexts> = {
  en: {
    title: 'Invitations',
    about: 'Whom you have asked to join. The mail has a link, which works until it ends or you revoke it.',
    create: 'Invite people',
    empty: 'Nobody is invited. Whoever accepts an invitation becomes a member.',
    removal: '',
    roleHint: 'Everybody whom you invite now gets this role.',
    statuses: { pending: 'open', accepted: 'accepted', expired: 'ended', revoked: 'revoked' },
    invitedBy: 'Invited by',
    expires: 'Ends',
    sent: 'Last sent',
    addresses: 'E-mail addresses',
    addressesHint: 'One on each line, or separated by commas.',
    needAddress: 'Name at least one address.',
    needRole: 'Choose a role.',
    invite: 'Invite',
    invited: 'invited',
    resend: 'Send again',
    renew: 'Renew',
    revoke: 'Revoke',
    resending: 'Each of them gets the mail once more.',
    revoking: 'The link in the mail stops working. You can invite the address again.',
    mailed: 'A mail is on its way.',
  },
  de: {
    title: 'Einladungen',
    about:
      'Wen Sie gebeten haben, beizutreten. Die Mail hat einen Link; er gilt, bis er endet oder Sie ihn widerrufen.',
    create: 'Einladen',
    empty: 'Niemand ist eingeladen. Wer eine Einladung annimmt, wird Mitglied.',
    removal: '',
    roleHint: 'Alle, die Sie jetzt einladen, erhalten diese Rolle.',
    statuses: { pending: 'offen', accepted: 'angenommen', expired: 'abgelaufen', revoked: 'widerrufen' },
    invitedBy: 'Eingeladen von',
    expires: 'Endet',
    sent: 'Zuletzt gesendet',
    addresses: 'E-Mail-Adressen',
    addressesHint: 'Eine je Zeile, oder durch Kommas getrennt.',
    needAddress: 'Nennen Sie mindestens eine Adresse.',
    needRole: 'Wählen Sie eine Rolle.',
    invite: 'Einladen',
    invited: 'eingeladen',
    resend: 'Erneut senden',
    renew: 'Verlängern',
    revoke: 'Widerrufen',
    resending: 'Alle erhalten die Mail noch einmal.',
    revoking: 'Der Link in der Mail gilt nicht mehr. Sie können die Adresse erneut einladen.',
    mailed: 'Eine Mail ist unterwegs.',
  },
  es: {
    title: 'Invitaciones',
    about:
      'A quién ha pedido que se una. El correo lleva un enlace, que vale hasta que termine o usted lo revoque.',
    create: 'Invitar a personas',
    empty: 'No hay nadie invitado. Quien acepta una invitación se convierte en miembro.',
    removal: '',
    roleHint: 'Todas las personas que invite ahora reciben este rol.',
    statuses: { pending: 'abierta', accepted: 'aceptada', expired: 'terminada', revoked: 'revocada' },
    invitedBy: 'Invita',
    expires: 'Termina',
    sent: 'Último envío',
    addresses: 'Correos electrónicos',
    addressesHint: 'Uno por línea, o separados por comas.',
    needAddress: 'Indique al menos un correo.',
    needRole: 'Elija un rol.',
    invite: 'Invitar',
    invited: 'invitación enviada',
    resend: 'Enviar de nuevo',
    renew: 'Renovar',
    revoke: 'Revocar',
    resending: 'Cada una recibe el correo otra vez.',
    revoking: 'El enlace del correo deja de valer. Puede invitar de nuevo a esa dirección.',
    mailed: 'Un correo está en camino.',
  },
  fr: {
    title: 'Invitations',
    about:
      'Les personnes à qui vous avez proposé de venir. L’e-mail contient un lien, valable jusqu’à sa fin ou sa révocation.',
    create: 'Inviter des personnes',
    empty: 'Personne n’est invité. Quiconque accepte une invitation devient membre.',
    removal: '',
    roleHint: 'Toutes les personnes que vous invitez maintenant reçoivent ce rôle.',
    statuses: { pending: 'ouverte', accepted: 'acceptée', expired: 'terminée', revoked: 'révoquée' },
    invitedBy: 'Invitation de',
    expires: 'Fin',
    sent: 'Dernier envoi',
    addresses: 'Adresses e-mail',
    addressesHint: 'Une par ligne, ou séparées par des virgules.',
    needAddress: 'Indiquez au moins une adresse.',
    needRole: 'Choisissez un rôle.',
    invite: 'Inviter',
    invited: 'invitation envoyée',
    resend: 'Renvoyer',
    renew: 'Prolonger',
    revoke: 'Révoquer',
    resending: 'Chacune reçoit l’e-mail encore une fois.',
    revoking: 'Le lien de l’e-mail ne fonctionne plus. Vous pouvez inviter de nouveau cette adresse.',
    mailed: 'Un e-mail est en route.',
  },
};
