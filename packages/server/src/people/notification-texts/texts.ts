import { formatTime } from '../../events/mail/mail-layout.ts';
import type { OperatorAct } from '../../schema/operators/operator.ts';
import { operatorTexts } from './operator-texts.ts';
import { organizationTexts } from './organization-texts.ts';
import type { NotificationType } from '../../schema/people/notification.ts';
import type { Language } from '../../languages.ts';

/** The values for the text of each type. Names in them were chosen by users. */
export interface TextParams {
  readonly invitation_received: {
    readonly organization: string;
    readonly role: string;
    readonly inviter: string;
  };
  readonly member_joined: { readonly organization: string; readonly role: string; readonly person: string };
  readonly role_changed: { readonly place: string; readonly roles: string };
  readonly removed_from_organization: { readonly organization: string };
  readonly api_key_created: { readonly project: string; readonly key: string };
  readonly api_key_expiring: {
    /** The tenant of the key: a project, else an organization, else the reader's account. */
    readonly project: string | null;
    readonly organization: string | null;
    readonly key: string;
    readonly expiresAt: Date;
  };
  readonly project_grant_changed: {
    readonly organization: string;
    readonly project: string;
    readonly change: 'granted' | 'changed' | 'suspended' | 'resumed' | 'revoked';
  };
  readonly connection_bypassed: { readonly organization: string; readonly owner: string };
  readonly domain_lapsed: { readonly organization: string; readonly domain: string };
  readonly webhook_failing: { readonly project: string; readonly receiver: string; readonly since: Date };
  readonly webhook_disabled: { readonly project: string; readonly receiver: string; readonly gone: boolean };
  readonly new_sign_in: { readonly address: string; readonly device: string };
  readonly password_changed: object;
  readonly sign_in_methods_changed: {
    readonly change: 'added' | 'verified' | 'removed';
    readonly provider: 'email' | 'github' | 'oidc' | 'passkey';
    /** The address of the method, or the name of the passkey. */
    readonly label: string;
  };
  readonly mfa_changed: object;
  readonly session_reuse: object;
  readonly operator_action: {
    readonly act: OperatorAct;
    /** The organization, the new operator or the suspended owner; empty if the operation concerns the reader. */
    readonly subject: string;
    readonly reason: string;
  };
  /** `organization` is empty if the reader themselves was impersonated. */
  readonly impersonated: {
    readonly organization: string;
    readonly person: string;
    readonly reason: string;
  };
}

/** The types of notifications that an event causes. */
export type NotifiedType = keyof TextParams & NotificationType;

export interface Text {
  readonly title: string;
  readonly body: string;
}

type Texts = { readonly [T in NotifiedType]: (params: TextParams[T], time: string) => Text };

const en: Texts = {
  invitation_received: ({ organization, role, inviter }) => ({
    title: `Invitation to ${organization}`,
    body: `${inviter} invites you to join the organization “${organization}” as “${role}”. To accept, open the link in the e-mail that you received.`,
  }),
  member_joined: ({ organization, role, person }) => ({
    title: `New member in ${organization}`,
    body: `${person} joined the organization “${organization}” as “${role}”.`,
  }),
  role_changed: ({ place, roles }) => ({
    title: `Your role in ${place} has changed`,
    body: roles
      ? `You now have these roles in “${place}”: ${roles}.`
      : `You no longer have a role in “${place}”.`,
  }),
  removed_from_organization: ({ organization }) => ({
    title: `You were removed from ${organization}`,
    body: `You are no longer a member of the organization “${organization}”, nor of its projects.`,
  }),
  api_key_created: ({ project, key }) => ({
    title: `New API key in ${project}`,
    body: `An API key ${key ? `named “${key}” ` : ''}that acts on your behalf was created in the project “${project}”. If you did not expect this, ask an administrator of the project to revoke the key.`,
  }),
  api_key_expiring: ({ project, organization, key, expiresAt }) => ({
    title:
      (project ?? organization) !== null
        ? `An API key in ${project ?? organization} expires soon`
        : 'An API key of your account expires soon',
    body: `The API key ${key ? `“${key}” ` : ''}that you created in ${project !== null ? `the project “${project}”` : organization !== null ? `the organization “${organization}”` : 'your account'} expires on ${formatTime('en', expiresAt)}. Replace it before then wherever it is used.`,
  }),
  project_grant_changed: ({ organization, project, change }) => ({
    title: `Access of ${organization} to ${project}`,
    body: {
      granted: `Your organization “${organization}” may now use the project “${project}”. Its administrators decide who gets which role.`,
      changed: `What your organization “${organization}” may do in the project “${project}” has changed.`,
      suspended: `The access of your organization “${organization}” to the project “${project}” is suspended. Roles and keys are kept, but do not work.`,
      resumed: `Your organization “${organization}” may use the project “${project}” again.`,
      revoked: `Your organization “${organization}” may no longer use the project “${project}”. Its roles and keys there have ended.`,
    }[change],
  }),
  webhook_failing: ({ project, receiver, since }) => ({
    title: `A webhook of ${project} is failing`,
    body: `Deliveries from the project “${project}” to ${receiver} have failed since ${formatTime('en', since)}. If they continue to fail, the webhook will be disabled.`,
  }),
  webhook_disabled: ({ project, receiver, gone }) => ({
    title: `A webhook of ${project} was disabled`,
    body: gone
      ? `The webhook from the project “${project}” to ${receiver} was disabled because the receiver rejects all deliveries (410 Gone). Activate it again or delete it.`
      : `The webhook from the project “${project}” to ${receiver} was disabled because deliveries failed for too long. When the receiver answers again, pending deliveries are sent.`,
  }),
  new_sign_in: ({ address, device }, time) => ({
    title: 'Sign-in from a new network',
    body: `Someone signed in to your account on ${time} from ${address}${device ? ` (${device})` : ''}. You have not signed in from there in the last 30 days. If this was not you, change your password and end this session.`,
  }),
  password_changed: (_, time) => ({
    title: 'Your password was changed',
    body: `The password of your account was changed on ${time}. If this was not you, reset it immediately.`,
  }),
  sign_in_methods_changed: ({ change, provider, label }, time) => {
    const way = {
      email: `The e-mail address ${label}`,
      github: `A GitHub account (${label})`,
      oidc: `An account at a sign-in provider (${label})`,
      passkey: `A passkey (${label})`,
    }[provider];
    const what = {
      added: `${way} was added to your account as a way to sign in on ${time}.`,
      verified: `${way} was verified on ${time}. It can now be used to sign in to your account.`,
      removed: `${way} was removed from your account as a way to sign in on ${time}.`,
    };
    return {
      title: 'Your ways to sign in have changed',
      body: `${what[change]} If this was not you, change your password immediately and check your ways to sign in.`,
    };
  },
  mfa_changed: (_, time) => ({
    title: 'Your second factor was changed',
    body: `An authenticator app was added to your account or removed from it on ${time}. If this was not you, change your password immediately and check your authenticator apps.`,
  }),
  session_reuse: (_, time) => ({
    title: 'A session was ended for your security',
    body: `On ${time}, a token of one of your sessions was used a second time. Someone may have copied it, so we ended the session. If you do not know why this happened, change your password.`,
  }),
  ...operatorTexts.en,
  ...organizationTexts.en,
};

const de: Texts = {
  invitation_received: ({ organization, role, inviter }) => ({
    title: `Einladung zu ${organization}`,
    body: `${inviter} lädt Sie mit der Rolle „${role}“ in die Organisation „${organization}“ ein. Öffnen Sie den Link in der E-Mail, die Sie erhalten haben, um anzunehmen.`,
  }),
  member_joined: ({ organization, role, person }) => ({
    title: `Neues Mitglied in ${organization}`,
    body: `${person} ist der Organisation „${organization}“ als „${role}“ beigetreten.`,
  }),
  role_changed: ({ place, roles }) => ({
    title: `Ihre Rolle in ${place} hat sich geändert`,
    body: roles
      ? `Sie haben in „${place}“ jetzt diese Rollen: ${roles}.`
      : `Sie haben in „${place}“ keine Rolle mehr.`,
  }),
  removed_from_organization: ({ organization }) => ({
    title: `Sie wurden aus ${organization} entfernt`,
    body: `Sie gehören der Organisation „${organization}“ und ihren Projekten nicht mehr an.`,
  }),
  api_key_created: ({ project, key }) => ({
    title: `Neuer API-Schlüssel in ${project}`,
    body: `Im Projekt „${project}“ wurde ein API-Schlüssel ${key ? `namens „${key}“ ` : ''}angelegt, der in Ihrem Namen handelt. Wenn Sie das nicht erwartet haben, bitten Sie einen Administrator des Projekts, den Schlüssel zu widerrufen.`,
  }),
  api_key_expiring: ({ project, organization, key, expiresAt }) => ({
    title:
      (project ?? organization) !== null
        ? `Ein API-Schlüssel in ${project ?? organization} läuft bald ab`
        : 'Ein API-Schlüssel Ihres Kontos läuft bald ab',
    body: `Der API-Schlüssel${key ? ` „${key}“` : ''}, den Sie ${project !== null ? `im Projekt „${project}“` : organization !== null ? `in der Organisation „${organization}“` : 'in Ihrem Konto'} angelegt haben, läuft am ${formatTime('de', expiresAt)} ab. Ersetzen Sie ihn bis dahin überall, wo er verwendet wird.`,
  }),
  project_grant_changed: ({ organization, project, change }) => ({
    title: `Zugang von ${organization} zu ${project}`,
    body: {
      granted: `Ihre Organisation „${organization}“ kann jetzt das Projekt „${project}“ nutzen. Wer sie verwaltet, bestimmt, wer welche Rolle bekommt.`,
      changed: `Was Ihre Organisation „${organization}“ im Projekt „${project}“ darf, hat sich geändert.`,
      suspended: `Der Zugang Ihrer Organisation „${organization}“ zum Projekt „${project}“ ist ausgesetzt. Rollen und Schlüssel bleiben erhalten, wirken aber nicht.`,
      resumed: `Ihre Organisation „${organization}“ kann das Projekt „${project}“ wieder nutzen.`,
      revoked: `Ihre Organisation „${organization}“ kann das Projekt „${project}“ nicht mehr nutzen. Ihre Rollen und Schlüssel dort sind beendet.`,
    }[change],
  }),
  webhook_failing: ({ project, receiver, since }) => ({
    title: `Ein Webhook von ${project} schlägt fehl`,
    body: `Zustellungen des Projekts „${project}“ an ${receiver} schlagen seit ${formatTime('de', since)} fehl. Wenn das so bleibt, wird der Webhook deaktiviert.`,
  }),
  webhook_disabled: ({ project, receiver, gone }) => ({
    title: `Ein Webhook von ${project} wurde deaktiviert`,
    body: gone
      ? `Der Webhook des Projekts „${project}“ an ${receiver} wurde deaktiviert, weil der Empfänger alle Zustellungen ablehnt (410 Gone). Aktivieren Sie ihn wieder oder löschen Sie ihn.`
      : `Der Webhook des Projekts „${project}“ an ${receiver} wurde deaktiviert, weil Zustellungen zu lange fehlgeschlagen sind. Sobald der Empfänger wieder antwortet, werden ausstehende Zustellungen gesendet.`,
  }),
  new_sign_in: ({ address, device }, time) => ({
    title: 'Anmeldung aus einem neuen Netzwerk',
    body: `Jemand hat sich am ${time} von ${address} aus${device ? ` (${device})` : ''} in Ihrem Konto angemeldet. Von dort haben Sie sich in den letzten 30 Tagen nicht angemeldet. Wenn Sie es nicht waren, ändern Sie Ihr Passwort und beenden Sie diese Sitzung.`,
  }),
  password_changed: (_, time) => ({
    title: 'Ihr Passwort wurde geändert',
    body: `Das Passwort Ihres Kontos wurde am ${time} geändert. Wenn Sie es nicht waren, setzen Sie es sofort zurück.`,
  }),
  sign_in_methods_changed: ({ change, provider, label }, time) => {
    const way = {
      email: `Die E-Mail-Adresse ${label}`,
      github: `Ein GitHub-Konto (${label})`,
      oidc: `Ein Konto bei einem Anmeldedienst (${label})`,
      passkey: `Ein Passkey (${label})`,
    }[provider];
    const what = {
      added: `${way} wurde am ${time} Ihrem Konto als Anmeldeweg hinzugefügt.`,
      verified: `${way} wurde am ${time} bestätigt. Damit ist jetzt die Anmeldung bei Ihrem Konto möglich.`,
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
    title: 'Eine Sitzung wurde zu Ihrer Sicherheit beendet',
    body: `Am ${time} wurde ein Token einer Ihrer Sitzungen ein zweites Mal verwendet. Jemand könnte es kopiert haben, deshalb haben wir die Sitzung beendet. Wenn Sie den Grund nicht kennen, ändern Sie Ihr Passwort.`,
  }),
  ...operatorTexts.de,
  ...organizationTexts.de,
};

const es: Texts = {
  invitation_received: ({ organization, role, inviter }) => ({
    title: `Invitación a ${organization}`,
    body: `${inviter} le invita a unirse a la organización «${organization}» como «${role}». Para aceptar, abra el enlace del correo que ha recibido.`,
  }),
  member_joined: ({ organization, role, person }) => ({
    title: `Nuevo miembro en ${organization}`,
    body: `${person} se ha unido a la organización «${organization}» como «${role}».`,
  }),
  role_changed: ({ place, roles }) => ({
    title: `Su rol en ${place} ha cambiado`,
    body: roles
      ? `Ahora tiene estos roles en «${place}»: ${roles}.`
      : `Ya no tiene ningún rol en «${place}».`,
  }),
  removed_from_organization: ({ organization }) => ({
    title: `Se le ha eliminado de ${organization}`,
    body: `Ya no pertenece a la organización «${organization}» ni a sus proyectos.`,
  }),
  api_key_created: ({ project, key }) => ({
    title: `Nueva clave de API en ${project}`,
    body: `En el proyecto «${project}» se ha creado una clave de API ${key ? `llamada «${key}» ` : ''}que actúa en su nombre. Si no lo esperaba, pida a un administrador del proyecto que la revoque.`,
  }),
  api_key_expiring: ({ project, organization, key, expiresAt }) => ({
    title:
      (project ?? organization) !== null
        ? `Una clave de API en ${project ?? organization} caduca pronto`
        : 'Una clave de API de su cuenta caduca pronto',
    body: `La clave de API ${key ? `«${key}» ` : ''}que usted creó en ${project !== null ? `el proyecto «${project}»` : organization !== null ? `la organización «${organization}»` : 'su cuenta'} caduca el ${formatTime('es', expiresAt)}. Sustitúyala antes de esa fecha allí donde se utilice.`,
  }),
  project_grant_changed: ({ organization, project, change }) => ({
    title: `Acceso de ${organization} a ${project}`,
    body: {
      granted: `Su organización «${organization}» ya puede usar el proyecto «${project}». Quien la administra decide quién recibe cada rol.`,
      changed: `Ha cambiado lo que su organización «${organization}» puede hacer en el proyecto «${project}».`,
      suspended: `El acceso de su organización «${organization}» al proyecto «${project}» está suspendido. Los roles y las claves se conservan, pero no funcionan.`,
      resumed: `Su organización «${organization}» puede volver a usar el proyecto «${project}».`,
      revoked: `Su organización «${organization}» ya no puede usar el proyecto «${project}». Sus roles y claves en él han terminado.`,
    }[change],
  }),
  webhook_failing: ({ project, receiver, since }) => ({
    title: `Un webhook de ${project} está fallando`,
    body: `Las entregas del proyecto «${project}» a ${receiver} fallan desde ${formatTime('es', since)}. Si siguen fallando, el webhook se desactivará.`,
  }),
  webhook_disabled: ({ project, receiver, gone }) => ({
    title: `Se ha desactivado un webhook de ${project}`,
    body: gone
      ? `El webhook del proyecto «${project}» a ${receiver} se ha desactivado porque el receptor rechaza todas las entregas (410 Gone). Vuelva a activarlo o elimínelo.`
      : `El webhook del proyecto «${project}» a ${receiver} se ha desactivado porque las entregas han fallado durante demasiado tiempo. Cuando el receptor vuelva a responder, se enviarán las entregas pendientes.`,
  }),
  new_sign_in: ({ address, device }, time) => ({
    title: 'Inicio de sesión desde una red nueva',
    body: `Alguien ha iniciado sesión en su cuenta el ${time} desde ${address}${device ? ` (${device})` : ''}. Usted no ha iniciado sesión desde allí en los últimos 30 días. Si no ha sido usted, cambie su contraseña y cierre esa sesión.`,
  }),
  password_changed: (_, time) => ({
    title: 'Su contraseña ha cambiado',
    body: `La contraseña de su cuenta se cambió el ${time}. Si no ha sido usted, restablézcala de inmediato.`,
  }),
  sign_in_methods_changed: ({ change, provider, label }, time) => {
    const way = {
      email: `La dirección de correo ${label}`,
      github: `Una cuenta de GitHub (${label})`,
      oidc: `Una cuenta de un proveedor de acceso (${label})`,
      passkey: `Una llave de acceso (${label})`,
    }[provider];
    const what = {
      added: `${way} se añadió a su cuenta como forma de iniciar sesión el ${time}.`,
      verified: `${way} se verificó el ${time}. Ahora permite iniciar sesión en su cuenta.`,
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
    title: 'Se ha cerrado una sesión por su seguridad',
    body: `El ${time} se usó por segunda vez un token de una de sus sesiones. Es posible que alguien lo haya copiado, por eso hemos cerrado la sesión. Si no sabe por qué ha ocurrido, cambie su contraseña.`,
  }),
  ...operatorTexts.es,
  ...organizationTexts.es,
};

const fr: Texts = {
  invitation_received: ({ organization, role, inviter }) => ({
    title: `Invitation à ${organization}`,
    body: `${inviter} vous invite à rejoindre l’organisation « ${organization} » avec le rôle « ${role} ». Pour accepter, ouvrez le lien de l’e-mail que vous avez reçu.`,
  }),
  member_joined: ({ organization, role, person }) => ({
    title: `Nouveau membre dans ${organization}`,
    body: `${person} a rejoint l’organisation « ${organization} » avec le rôle « ${role} ».`,
  }),
  role_changed: ({ place, roles }) => ({
    title: `Votre rôle dans ${place} a changé`,
    body: roles
      ? `Vous avez maintenant ces rôles dans « ${place} » : ${roles}.`
      : `Vous n’avez plus aucun rôle dans « ${place} ».`,
  }),
  removed_from_organization: ({ organization }) => ({
    title: `Vous avez été retiré de ${organization}`,
    body: `Vous n’êtes plus membre de l’organisation « ${organization} » ni de ses projets.`,
  }),
  api_key_created: ({ project, key }) => ({
    title: `Nouvelle clé d’API dans ${project}`,
    body: `Une clé d’API ${key ? `nommée « ${key} » ` : ''}qui agit en votre nom a été créée dans le projet « ${project} ». Si vous ne vous y attendiez pas, demandez à un administrateur du projet de la révoquer.`,
  }),
  api_key_expiring: ({ project, organization, key, expiresAt }) => ({
    title:
      (project ?? organization) !== null
        ? `Une clé d’API dans ${project ?? organization} expire bientôt`
        : 'Une clé d’API de votre compte expire bientôt',
    body: `La clé d’API ${key ? `« ${key} » ` : ''}que vous avez créée dans ${project !== null ? `le projet « ${project} »` : organization !== null ? `l’organisation « ${organization} »` : 'votre compte'} expire le ${formatTime('fr', expiresAt)}. Remplacez-la d’ici là partout où elle est utilisée.`,
  }),
  project_grant_changed: ({ organization, project, change }) => ({
    title: `Accès de ${organization} à ${project}`,
    body: {
      granted: `Votre organisation « ${organization} » peut maintenant utiliser le projet « ${project} ». Les personnes qui l’administrent décident qui reçoit quel rôle.`,
      changed: `Ce que votre organisation « ${organization} » peut faire dans le projet « ${project} » a changé.`,
      suspended: `L’accès de votre organisation « ${organization} » au projet « ${project} » est suspendu. Les rôles et les clés sont conservés, mais sans effet.`,
      resumed: `Votre organisation « ${organization} » peut de nouveau utiliser le projet « ${project} ».`,
      revoked: `Votre organisation « ${organization} » ne peut plus utiliser le projet « ${project} ». Ses rôles et ses clés y ont pris fin.`,
    }[change],
  }),
  webhook_failing: ({ project, receiver, since }) => ({
    title: `Un webhook de ${project} est en échec`,
    body: `Les envois du projet « ${project} » vers ${receiver} échouent depuis ${formatTime('fr', since)}. Si cela continue, le webhook sera désactivé.`,
  }),
  webhook_disabled: ({ project, receiver, gone }) => ({
    title: `Un webhook de ${project} a été désactivé`,
    body: gone
      ? `Le webhook du projet « ${project} » vers ${receiver} a été désactivé, car le destinataire refuse tous les envois (410 Gone). Réactivez-le ou supprimez-le.`
      : `Le webhook du projet « ${project} » vers ${receiver} a été désactivé, car les envois ont échoué trop longtemps. Dès que le destinataire répondra de nouveau, les envois en attente seront effectués.`,
  }),
  new_sign_in: ({ address, device }, time) => ({
    title: 'Connexion depuis un nouveau réseau',
    body: `Quelqu’un s’est connecté à votre compte le ${time} depuis ${address}${device ? ` (${device})` : ''}. Vous ne vous êtes pas connecté depuis cette adresse au cours des 30 derniers jours. Si ce n’était pas vous, changez votre mot de passe et fermez cette session.`,
  }),
  password_changed: (_, time) => ({
    title: 'Votre mot de passe a été modifié',
    body: `Le mot de passe de votre compte a été modifié le ${time}. Si ce n’était pas vous, réinitialisez-le tout de suite.`,
  }),
  sign_in_methods_changed: ({ change, provider, label }, time) => {
    const way = {
      email: `l’adresse e-mail ${label}`,
      github: `un compte GitHub (${label})`,
      oidc: `un compte chez un fournisseur de connexion (${label})`,
      passkey: `une clé d’accès (${label})`,
    }[provider];
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
    body: `Le ${time}, une application d’authentification a été ajoutée à votre compte ou en a été retirée. Si ce n’était pas vous, changez tout de suite votre mot de passe et vérifiez vos applications d’authentification.`,
  }),
  session_reuse: (_, time) => ({
    title: 'Une session a été fermée pour votre sécurité',
    body: `Le ${time}, un jeton de l’une de vos sessions a été utilisé une seconde fois. Quelqu’un l’a peut-être copié, nous avons donc fermé la session. Si vous ne savez pas pourquoi, changez votre mot de passe.`,
  }),
  ...operatorTexts.fr,
  ...organizationTexts.fr,
};

const texts: Record<Language, Texts> = { en, de, es, fr };

const TITLE = 255;
const BODY = 2000;
const cut = (text: string, max: number): string => [...text].slice(0, max).join('');

/** The title and the body of a notification, cut to the size of their columns. */
export function textOf<T extends NotifiedType>(
  language: Language,
  type: T,
  params: TextParams[T],
  time: Date,
): Text {
  const { title, body } = texts[language][type](params, formatTime(language, time));
  return { title: cut(title, TITLE), body: cut(body, BODY) };
}

/** The footnote of mails that readers can turn off. */
export const preferencesFootnote: Record<Language, string> = {
  en: 'You receive this e-mail because of your notification preferences, where you can turn it off.',
  de: 'Sie erhalten diese E-Mail aufgrund Ihrer Benachrichtigungseinstellungen; dort können Sie sie ausschalten.',
  es: 'Recibe este mensaje por sus preferencias de notificación, donde puede desactivarlo.',
  fr: 'Vous recevez cet e-mail en raison de vos préférences de notification, où vous pouvez le désactiver.',
};
