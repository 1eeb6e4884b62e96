import { timeInWords } from '../../events/mail-layout.ts';
import type { NotificationType } from './notification.ts';

/** What notifications say, in the four languages. Names in them were chosen by whoever they belong to. */
export type Language = 'en' | 'de' | 'es' | 'fr';

/** What stands in the holes of a text. */
export interface Words {
  readonly invitation_received: {
    readonly organization: string;
    readonly role: string;
    readonly inviter: string;
  };
  readonly member_joined: { readonly organization: string; readonly role: string; readonly person: string };
  readonly role_changed: { readonly place: string; readonly roles: string };
  readonly removed_from_organization: { readonly organization: string };
  readonly api_key_created: { readonly project: string; readonly key: string };
  readonly api_key_expiring: { readonly project: string; readonly key: string; readonly expiresAt: Date };
  readonly webhook_failing: { readonly project: string; readonly receiver: string; readonly since: Date };
  readonly webhook_disabled: { readonly project: string; readonly receiver: string; readonly gone: boolean };
  readonly new_sign_in: { readonly address: string; readonly device: string };
  readonly password_changed: object;
  readonly sign_in_methods_changed: {
    readonly change: 'added' | 'verified' | 'removed';
    readonly provider: 'email' | 'github';
    /** The address of the method. */
    readonly label: string;
  };
  readonly mfa_changed: object;
  readonly session_reuse: object;
}
/** Types of which an event tells. */
export type ToldType = keyof Words & NotificationType;

export interface Text {
  readonly title: string;
  readonly body: string;
}

type Texts = { readonly [T in ToldType]: (words: Words[T], time: string) => Text };

const en: Texts = {
  invitation_received: ({ organization, role, inviter }) => ({
    title: `Invitation to ${organization}`,
    body: `${inviter} invites you to join the organization “${organization}” as “${role}”. The link to answer is in the mail that you got.`,
  }),
  member_joined: ({ organization, role, person }) => ({
    title: `New member in ${organization}`,
    body: `${person} joined the organization “${organization}” as “${role}”.`,
  }),
  role_changed: ({ place, roles }) => ({
    title: `Your role in ${place} has changed`,
    body: roles ? `In “${place}” you now have: ${roles}.` : `In “${place}” you now have no role.`,
  }),
  removed_from_organization: ({ organization }) => ({
    title: `You were removed from ${organization}`,
    body: `You are no longer a member of the organization “${organization}”, nor of its projects.`,
  }),
  api_key_created: ({ project, key }) => ({
    title: `New API key in ${project}`,
    body: `An API key ${key ? `named “${key}” ` : ''}that acts in your name was created in the project “${project}”.`,
  }),
  api_key_expiring: ({ project, key, expiresAt }) => ({
    title: `An API key in ${project} will expire`,
    body: `The API key ${key ? `“${key}” ` : ''}that you created in the project “${project}” expires on ${timeInWords('en', expiresAt)}. Whatever uses it needs another key by then.`,
  }),
  webhook_failing: ({ project, receiver, since }) => ({
    title: `A webhook of ${project} is failing`,
    body: `What the project “${project}” sends to ${receiver} has not arrived since ${timeInWords('en', since)}. If that goes on, the webhook is disabled.`,
  }),
  webhook_disabled: ({ project, receiver, gone }) => ({
    title: `A webhook of ${project} was disabled`,
    body: gone
      ? `The webhook from the project “${project}” to ${receiver} was disabled, since its receiver wants nothing more (410). Set it active again, or delete it.`
      : `The webhook from the project “${project}” to ${receiver} was disabled, since its receiver has failed for too long. Once it answers again, what has waited is sent.`,
  }),
  new_sign_in: ({ address, device }, time) => ({
    title: 'Sign-in from a new network',
    body: `Somebody signed in to your account on ${time} from ${address}${device ? ` (${device})` : ''}. You have not signed in from there in the last 30 days. If it was not you, change your password and end this session.`,
  }),
  password_changed: (_, time) => ({
    title: 'Your password was changed',
    body: `The password of your account was changed on ${time}. If it was not you, reset it at once.`,
  }),
  sign_in_methods_changed: ({ change, provider, label }, time) => {
    const way = provider === 'github' ? `A GitHub account (${label})` : `The e-mail address ${label}`;
    const what = {
      added: `${way} was added to your account as a way to sign in on ${time}.`,
      verified: `${way} was verified on ${time} and signs in to your account now.`,
      removed: `${way} was removed from your account as a way to sign in on ${time}.`,
    };
    return {
      title: 'Your ways to sign in have changed',
      body: `${what[change]} If it was not you, change your password at once and look at your ways to sign in.`,
    };
  },
  mfa_changed: (_, time) => ({
    title: 'Your second factor was changed',
    body: `An authenticator app was added to your account or removed from it on ${time}. If it was not you, change your password at once and look at your authenticator apps.`,
  }),
  session_reuse: (_, time) => ({
    title: 'A session was ended for safety',
    body: `On ${time} a token of one of your sessions was used a second time. Somebody may have copied it, so the session was ended. If you do not know why, change your password.`,
  }),
};

const de: Texts = {
  invitation_received: ({ organization, role, inviter }) => ({
    title: `Einladung zu ${organization}`,
    body: `${inviter} lädt Sie in die Organisation „${organization}“ ein, als „${role}“. Der Link zum Antworten steht in der E-Mail, die Sie bekommen haben.`,
  }),
  member_joined: ({ organization, role, person }) => ({
    title: `Neues Mitglied in ${organization}`,
    body: `${person} ist der Organisation „${organization}“ als „${role}“ beigetreten.`,
  }),
  role_changed: ({ place, roles }) => ({
    title: `Ihre Rolle in ${place} hat sich geändert`,
    body: roles ? `In „${place}“ haben Sie jetzt: ${roles}.` : `In „${place}“ haben Sie jetzt keine Rolle.`,
  }),
  removed_from_organization: ({ organization }) => ({
    title: `Sie wurden aus ${organization} entfernt`,
    body: `Sie gehören der Organisation „${organization}“ und ihren Projekten nicht mehr an.`,
  }),
  api_key_created: ({ project, key }) => ({
    title: `Neuer API-Schlüssel in ${project}`,
    body: `Im Projekt „${project}“ wurde ein API-Schlüssel ${key ? `namens „${key}“ ` : ''}angelegt, der in Ihrem Namen handelt.`,
  }),
  api_key_expiring: ({ project, key, expiresAt }) => ({
    title: `Ein API-Schlüssel in ${project} läuft ab`,
    body: `Der API-Schlüssel${key ? ` „${key}“` : ''}, den Sie im Projekt „${project}“ angelegt haben, läuft am ${timeInWords('de', expiresAt)} ab. Was ihn verwendet, braucht bis dahin einen anderen.`,
  }),
  webhook_failing: ({ project, receiver, since }) => ({
    title: `Ein Webhook von ${project} schlägt fehl`,
    body: `Was das Projekt „${project}“ an ${receiver} sendet, kommt seit ${timeInWords('de', since)} nicht an. Bleibt es dabei, wird der Webhook abgeschaltet.`,
  }),
  webhook_disabled: ({ project, receiver, gone }) => ({
    title: `Ein Webhook von ${project} wurde abgeschaltet`,
    body: gone
      ? `Der Webhook des Projekts „${project}“ an ${receiver} wurde abgeschaltet, weil der Empfänger nichts mehr annimmt (410). Schalten Sie ihn wieder ein oder löschen Sie ihn.`
      : `Der Webhook des Projekts „${project}“ an ${receiver} wurde abgeschaltet, weil der Empfänger zu lange nicht erreichbar war. Sobald er wieder antwortet, wird nachgesendet, was gewartet hat.`,
  }),
  new_sign_in: ({ address, device }, time) => ({
    title: 'Anmeldung aus einem neuen Netz',
    body: `Jemand hat sich am ${time} von ${address} aus${device ? ` (${device})` : ''} in Ihrem Konto angemeldet. Von dort haben Sie sich in den letzten 30 Tagen nicht angemeldet. Wenn Sie es nicht waren, ändern Sie Ihr Passwort und beenden Sie diese Sitzung.`,
  }),
  password_changed: (_, time) => ({
    title: 'Ihr Passwort wurde geändert',
    body: `Das Passwort Ihres Kontos wurde am ${time} geändert. Wenn Sie es nicht waren, setzen Sie es sofort zurück.`,
  }),
  sign_in_methods_changed: ({ change, provider, label }, time) => {
    const way = provider === 'github' ? `Ein GitHub-Konto (${label})` : `Die E-Mail-Adresse ${label}`;
    const what = {
      added: `${way} wurde am ${time} Ihrem Konto als Anmeldeweg hinzugefügt.`,
      verified: `${way} wurde am ${time} bestätigt und meldet jetzt bei Ihrem Konto an.`,
      removed: `${way} wurde am ${time} als Anmeldeweg von Ihrem Konto entfernt.`,
    };
    return {
      title: 'Ihre Anmeldewege haben sich geändert',
      body: `${what[change]} Wenn Sie es nicht waren, ändern Sie sofort Ihr Passwort und prüfen Sie Ihre Anmeldewege.`,
    };
  },
  mfa_changed: (_, time) => ({
    title: 'Ihr zweiter Faktor wurde geändert',
    body: `Am ${time} wurde Ihrem Konto eine Authenticator-App hinzugefügt oder eine entfernt. Wenn Sie es nicht waren, ändern Sie sofort Ihr Passwort und prüfen Sie Ihre Authenticator-Apps.`,
  }),
  session_reuse: (_, time) => ({
    title: 'Eine Sitzung wurde zur Sicherheit beendet',
    body: `Am ${time} wurde ein Token einer Ihrer Sitzungen ein zweites Mal verwendet. Jemand könnte es kopiert haben, darum wurde die Sitzung beendet. Wenn Sie den Grund nicht kennen, ändern Sie Ihr Passwort.`,
  }),
};

const es: Texts = {
  invitation_received: ({ organization, role, inviter }) => ({
    title: `Invitación a ${organization}`,
    body: `${inviter} le invita a unirse a la organización «${organization}» como «${role}». El enlace para responder está en el mensaje que ha recibido.`,
  }),
  member_joined: ({ organization, role, person }) => ({
    title: `Nuevo miembro en ${organization}`,
    body: `${person} se ha unido a la organización «${organization}» como «${role}».`,
  }),
  role_changed: ({ place, roles }) => ({
    title: `Su rol en ${place} ha cambiado`,
    body: roles ? `En «${place}» ahora tiene: ${roles}.` : `En «${place}» ahora no tiene ningún rol.`,
  }),
  removed_from_organization: ({ organization }) => ({
    title: `Se le ha quitado de ${organization}`,
    body: `Ya no pertenece a la organización «${organization}» ni a sus proyectos.`,
  }),
  api_key_created: ({ project, key }) => ({
    title: `Nueva clave de API en ${project}`,
    body: `En el proyecto «${project}» se ha creado una clave de API ${key ? `llamada «${key}» ` : ''}que actúa en su nombre.`,
  }),
  api_key_expiring: ({ project, key, expiresAt }) => ({
    title: `Una clave de API en ${project} va a caducar`,
    body: `La clave de API ${key ? `«${key}» ` : ''}que usted creó en el proyecto «${project}» caduca el ${timeInWords('es', expiresAt)}. Lo que la utilice necesitará otra clave antes de entonces.`,
  }),
  webhook_failing: ({ project, receiver, since }) => ({
    title: `Un webhook de ${project} está fallando`,
    body: `Lo que el proyecto «${project}» envía a ${receiver} no llega desde ${timeInWords('es', since)}. Si continúa así, el webhook se desactivará.`,
  }),
  webhook_disabled: ({ project, receiver, gone }) => ({
    title: `Se ha desactivado un webhook de ${project}`,
    body: gone
      ? `El webhook del proyecto «${project}» a ${receiver} se ha desactivado porque el receptor ya no acepta nada (410). Vuelva a activarlo o elimínelo.`
      : `El webhook del proyecto «${project}» a ${receiver} se ha desactivado porque el receptor ha fallado durante demasiado tiempo. Cuando vuelva a responder, se enviará lo que ha quedado en espera.`,
  }),
  new_sign_in: ({ address, device }, time) => ({
    title: 'Inicio de sesión desde una red nueva',
    body: `Alguien ha iniciado sesión en su cuenta el ${time} desde ${address}${device ? ` (${device})` : ''}. Usted no ha iniciado sesión desde allí en los últimos 30 días. Si no ha sido usted, cambie su contraseña y termine esa sesión.`,
  }),
  password_changed: (_, time) => ({
    title: 'Su contraseña ha cambiado',
    body: `La contraseña de su cuenta se cambió el ${time}. Si no ha sido usted, restablézcala de inmediato.`,
  }),
  sign_in_methods_changed: ({ change, provider, label }, time) => {
    const way = provider === 'github' ? `Una cuenta de GitHub (${label})` : `La dirección de correo ${label}`;
    const what = {
      added: `${way} se añadió a su cuenta como forma de iniciar sesión el ${time}.`,
      verified: `${way} se verificó el ${time} y ahora inicia sesión en su cuenta.`,
      removed: `${way} se quitó de su cuenta como forma de iniciar sesión el ${time}.`,
    };
    return {
      title: 'Sus formas de iniciar sesión han cambiado',
      body: `${what[change]} Si no ha sido usted, cambie la contraseña de inmediato y revise sus formas de iniciar sesión.`,
    };
  },
  mfa_changed: (_, time) => ({
    title: 'Su segundo factor ha cambiado',
    body: `El ${time} se añadió una aplicación de autenticación a su cuenta o se quitó una. Si no ha sido usted, cambie su contraseña de inmediato y revise sus aplicaciones de autenticación.`,
  }),
  session_reuse: (_, time) => ({
    title: 'Se ha terminado una sesión por seguridad',
    body: `El ${time} se usó por segunda vez un token de una de sus sesiones. Es posible que alguien lo haya copiado, por eso se ha terminado la sesión. Si no sabe por qué, cambie su contraseña.`,
  }),
};

const fr: Texts = {
  invitation_received: ({ organization, role, inviter }) => ({
    title: `Invitation à ${organization}`,
    body: `${inviter} vous invite à rejoindre l'organisation « ${organization} » avec le rôle « ${role} ». Le lien pour répondre est dans l'e-mail que vous avez reçu.`,
  }),
  member_joined: ({ organization, role, person }) => ({
    title: `Nouveau membre dans ${organization}`,
    body: `${person} a rejoint l'organisation « ${organization} » avec le rôle « ${role} ».`,
  }),
  role_changed: ({ place, roles }) => ({
    title: `Votre rôle dans ${place} a changé`,
    body: roles
      ? `Dans « ${place} », vous avez maintenant : ${roles}.`
      : `Dans « ${place} », vous n'avez plus aucun rôle.`,
  }),
  removed_from_organization: ({ organization }) => ({
    title: `Vous avez été retiré de ${organization}`,
    body: `Vous n'êtes plus membre de l'organisation « ${organization} » ni de ses projets.`,
  }),
  api_key_created: ({ project, key }) => ({
    title: `Nouvelle clé d'API dans ${project}`,
    body: `Une clé d'API ${key ? `nommée « ${key} » ` : ''}qui agit en votre nom a été créée dans le projet « ${project} ».`,
  }),
  api_key_expiring: ({ project, key, expiresAt }) => ({
    title: `Une clé d'API dans ${project} va expirer`,
    body: `La clé d'API ${key ? `« ${key} » ` : ''}que vous avez créée dans le projet « ${project} » expire le ${timeInWords('fr', expiresAt)}. Ce qui l'utilise aura besoin d'une autre clé d'ici là.`,
  }),
  webhook_failing: ({ project, receiver, since }) => ({
    title: `Un webhook de ${project} est en échec`,
    body: `Ce que le projet « ${project} » envoie à ${receiver} n'arrive plus depuis ${timeInWords('fr', since)}. Si cela continue, le webhook sera désactivé.`,
  }),
  webhook_disabled: ({ project, receiver, gone }) => ({
    title: `Un webhook de ${project} a été désactivé`,
    body: gone
      ? `Le webhook du projet « ${project} » vers ${receiver} a été désactivé, car le destinataire n'accepte plus rien (410). Réactivez-le ou supprimez-le.`
      : `Le webhook du projet « ${project} » vers ${receiver} a été désactivé, car le destinataire est resté trop longtemps en échec. Dès qu'il répondra de nouveau, ce qui a attendu sera envoyé.`,
  }),
  new_sign_in: ({ address, device }, time) => ({
    title: 'Connexion depuis un nouveau réseau',
    body: `Quelqu'un s'est connecté à votre compte le ${time} depuis ${address}${device ? ` (${device})` : ''}. Vous ne vous êtes pas connecté de là au cours des 30 derniers jours. Si ce n'était pas vous, changez votre mot de passe et mettez fin à cette session.`,
  }),
  password_changed: (_, time) => ({
    title: 'Votre mot de passe a été modifié',
    body: `Le mot de passe de votre compte a été modifié le ${time}. Si ce n'était pas vous, réinitialisez-le tout de suite.`,
  }),
  sign_in_methods_changed: ({ change, provider, label }, time) => {
    const way = provider === 'github' ? `un compte GitHub (${label})` : `l’adresse e-mail ${label}`;
    const what = {
      added: `Un moyen de connexion a été ajouté à votre compte le ${time} : ${way}.`,
      verified: `Un moyen de connexion à votre compte a été vérifié le ${time} : ${way}.`,
      removed: `Un moyen de connexion a été retiré de votre compte le ${time} : ${way}.`,
    };
    return {
      title: 'Vos moyens de connexion ont changé',
      body: `${what[change]} Si ce n’était pas vous, changez votre mot de passe tout de suite et vérifiez vos moyens de connexion.`,
    };
  },
  mfa_changed: (_, time) => ({
    title: 'Votre second facteur a été modifié',
    body: `Le ${time}, une application d'authentification a été ajoutée à votre compte ou en a été retirée. Si ce n'était pas vous, changez tout de suite votre mot de passe et vérifiez vos applications d'authentification.`,
  }),
  session_reuse: (_, time) => ({
    title: 'Une session a été fermée par sécurité',
    body: `Le ${time}, un jeton de l'une de vos sessions a été utilisé une seconde fois. Quelqu'un l'a peut-être copié, la session a donc été fermée. Si vous ne savez pas pourquoi, changez votre mot de passe.`,
  }),
};

const texts: Record<Language, Texts> = { en, de, es, fr };

const TITLE = 255;
const BODY = 2000;
const cut = (text: string, max: number): string => [...text].slice(0, max).join('');

/** The text of a type with its words; cut where names are too long for it. */
export function textOf<T extends ToldType>(language: Language, type: T, words: Words[T], time: Date): Text {
  const { title, body } = texts[language][type](words, timeInWords(language, time));
  return { title: cut(title, TITLE), body: cut(body, BODY) };
}

/** Small print of the mails that can be switched off. */
export const whyMailed: Record<Language, string> = {
  en: 'You get this mail because of your notification preferences, where you can switch it off.',
  de: 'Sie erhalten diese E-Mail aufgrund Ihrer Benachrichtigungseinstellungen; dort können Sie sie abschalten.',
  es: 'Recibe este mensaje por sus preferencias de notificación; en ellas puede desactivarlo.',
  fr: 'Vous recevez cet e-mail en raison de vos préférences de notification, où vous pouvez le désactiver.',
};
