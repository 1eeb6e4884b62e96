import type { OperatorAct } from '../../schema/operators/operator.ts';
import type { Text, TextParams } from './texts.ts';
import type { Language } from '../../languages.ts';

type OperatorTexts = {
  readonly [T in 'operator_action' | 'impersonated']: (params: TextParams[T], time: string) => Text;
};

const en: OperatorTexts = {
  operator_action: ({ act, subject, reason }, time) => {
    const what: Record<OperatorAct, string> = {
      userSuspended: `suspended the account of ${subject}, who is an owner of an organization of yours`,
      userReactivated: 'reactivated your account',
      sessionsEnded: 'ended all your sessions',
      factorResetPlanned:
        'started the removal of your second factor, which takes effect in 24 hours unless you sign in with it before',
      factorReset: 'removed your second factor',
      passwordResetSent: 'had a link to reset your password sent to you',
      operatorAdded: `made ${subject} an operator of this service`,
      organizationSuspended: `suspended your organization “${subject}”: members, keys and apps can use neither it nor its projects; nothing was deleted`,
      organizationReactivated: `ended the suspension of your organization “${subject}”`,
    };
    return {
      title: 'An operator of this service has acted',
      body: `An operator of this service ${what[act]} on ${time}. The reason given: ${reason}`,
    };
  },
  impersonated: ({ organization, person, reason }, time) =>
    organization
      ? {
          title: 'An operator of this service entered your organization',
          body: `An operator of this service, acting for ${person}, entered the organization “${organization}” on ${time}. The reason given: ${reason}`,
        }
      : {
          title: 'An operator of this service acts in your name',
          body: `Since ${time}, an operator of this service acts with your rights, for 15 minutes at most. Passwords, second factors and keys are out of their reach. You can end it in your list of sessions. The reason given: ${reason}`,
        },
};

const de: OperatorTexts = {
  operator_action: ({ act, subject, reason }, time) => {
    const what: Record<OperatorAct, string> = {
      userSuspended: `das Konto von ${subject} gesperrt, Mitinhaber einer Ihrer Organisationen`,
      userReactivated: 'Ihr Konto reaktiviert',
      sessionsEnded: 'alle Ihre Sitzungen beendet',
      factorResetPlanned:
        'die Entfernung Ihres zweiten Faktors eingeleitet, die in 24 Stunden wirksam wird, wenn Sie sich nicht vorher damit anmelden',
      factorReset: 'Ihren zweiten Faktor entfernt',
      passwordResetSent: 'Ihnen einen Link zum Zurücksetzen Ihres Passworts senden lassen',
      operatorAdded: `${subject} zum Betreiber dieses Dienstes gemacht`,
      organizationSuspended: `Ihre Organisation „${subject}“ gesperrt: Mitglieder, Schlüssel und Apps können weder sie noch ihre Projekte nutzen; gelöscht wurde nichts`,
      organizationReactivated: `die Sperre Ihrer Organisation „${subject}“ aufgehoben`,
    };
    return {
      title: 'Ein Betreiber dieses Dienstes hat gehandelt',
      body: `Ein Betreiber dieses Dienstes hat am ${time} ${what[act]}. Der angegebene Grund: ${reason}`,
    };
  },
  impersonated: ({ organization, person, reason }, time) =>
    organization
      ? {
          title: 'Ein Betreiber dieses Dienstes hat Ihre Organisation betreten',
          body: `Ein Betreiber dieses Dienstes hat am ${time} im Namen von ${person} die Organisation „${organization}“ betreten. Der angegebene Grund: ${reason}`,
        }
      : {
          title: 'Ein Betreiber dieses Dienstes handelt in Ihrem Namen',
          body: `Seit ${time} handelt ein Betreiber dieses Dienstes mit Ihren Rechten, höchstens 15 Minuten lang. Passwörter, zweite Faktoren und Schlüssel sind für ihn unerreichbar. In der Liste Ihrer Sitzungen können Sie es beenden. Der angegebene Grund: ${reason}`,
        },
};

const es: OperatorTexts = {
  operator_action: ({ act, subject, reason }, time) => {
    const what: Record<OperatorAct, string> = {
      userSuspended: `ha suspendido la cuenta de ${subject}, también propietario de una de sus organizaciones`,
      userReactivated: 'ha reactivado su cuenta',
      sessionsEnded: 'ha cerrado todas sus sesiones',
      factorResetPlanned:
        'ha iniciado la eliminación de su segundo factor, que surtirá efecto en 24 horas si antes no inicia sesión con él',
      factorReset: 'ha eliminado su segundo factor',
      passwordResetSent: 'ha hecho que se le envíe un enlace para restablecer su contraseña',
      operatorAdded: `ha nombrado a ${subject} operador de este servicio`,
      organizationSuspended: `ha suspendido su organización «${subject}»: los miembros, las claves y las aplicaciones no pueden usarla, ni tampoco sus proyectos; no se ha eliminado nada`,
      organizationReactivated: `ha levantado la suspensión de su organización «${subject}»`,
    };
    return {
      title: 'Un operador de este servicio ha actuado',
      body: `Un operador de este servicio ${what[act]} el ${time}. El motivo indicado: ${reason}`,
    };
  },
  impersonated: ({ organization, person, reason }, time) =>
    organization
      ? {
          title: 'Un operador de este servicio ha entrado en su organización',
          body: `Un operador de este servicio, en nombre de ${person}, entró en la organización «${organization}» el ${time}. El motivo indicado: ${reason}`,
        }
      : {
          title: 'Un operador de este servicio actúa en su nombre',
          body: `Desde el ${time}, un operador de este servicio actúa con los derechos de usted, durante 15 minutos como máximo. Las contraseñas, los segundos factores y las claves quedan fuera de su alcance. Puede terminarlo en la lista de sus sesiones. El motivo indicado: ${reason}`,
        },
};

const fr: OperatorTexts = {
  operator_action: ({ act, subject, reason }, time) => {
    const what: Record<OperatorAct, string> = {
      userSuspended: `a suspendu le compte de ${subject}, copropriétaire de l’une de vos organisations`,
      userReactivated: 'a réactivé votre compte',
      sessionsEnded: 'a fermé toutes vos sessions',
      factorResetPlanned:
        'a lancé la suppression de votre second facteur, qui prendra effet dans 24 heures, sauf si vous vous connectez avec lui avant',
      factorReset: 'a supprimé votre second facteur',
      passwordResetSent: 'vous a fait envoyer un lien pour réinitialiser votre mot de passe',
      operatorAdded: `a nommé ${subject} opérateur de ce service`,
      organizationSuspended: `a suspendu votre organisation « ${subject} » : les membres, les clés et les applications ne peuvent plus l’utiliser, ni ses projets ; rien n’a été supprimé`,
      organizationReactivated: `a levé la suspension de votre organisation « ${subject} »`,
    };
    return {
      title: 'Un opérateur de ce service est intervenu',
      body: `Un opérateur de ce service ${what[act]} le ${time}. Le motif indiqué : ${reason}`,
    };
  },
  impersonated: ({ organization, person, reason }, time) =>
    organization
      ? {
          title: 'Un opérateur de ce service est entré dans votre organisation',
          body: `Un opérateur de ce service, au nom de ${person}, est entré dans l’organisation « ${organization} » le ${time}. Le motif indiqué : ${reason}`,
        }
      : {
          title: 'Un opérateur de ce service agit en votre nom',
          body: `Depuis le ${time}, un opérateur de ce service agit avec vos droits, pendant 15 minutes au plus. Les mots de passe, les seconds facteurs et les clés sont hors de sa portée. Vous pouvez y mettre fin dans la liste de vos sessions. Le motif indiqué : ${reason}`,
        },
};

/** Texts for users and owners about operations of operators, and for operators about a new operator. */
export const operatorTexts: Record<Language, OperatorTexts> = { en, de, es, fr };
