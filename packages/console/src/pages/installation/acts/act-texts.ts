import type { Texts } from '../../../i18n/language.ts';

/** Texts for what an operator can do with a user, and what it means for the user. */
export interface ActTexts {
  readonly reason: string;
  readonly reasonHint: string;
  readonly reasonLength: string;
  readonly suspend: string;
  readonly suspendAbout: string;
  readonly reactivate: string;
  readonly reactivateAbout: string;
  readonly endSessions: string;
  readonly endSessionsAbout: string;
  readonly resetFactor: string;
  readonly resetFactorAbout: string;
  readonly immediately: string;
  readonly immediatelyHint: string;
  readonly sendReset: string;
  readonly sendResetAbout: string;
  readonly impersonate: string;
  readonly impersonateAbout: string;
}

export const actTexts: Texts<ActTexts> = {
  en: {
    reason: 'Reason',
    reasonHint: 'It is written into the audit log, and those whom this concerns read it.',
    reasonLength: 'Write 10 to 500 characters.',
    suspend: 'Suspend',
    suspendAbout: 'They cannot sign in, and their sessions, apps and keys are refused. Nothing is deleted.',
    reactivate: 'Reactivate',
    reactivateAbout: 'They can sign in again, and their keys work again.',
    endSessions: 'End sessions',
    endSessionsAbout: 'They are signed out everywhere, and can sign in again at once.',
    resetFactor: 'Reset second factor',
    resetFactorAbout:
      'For somebody who lost it. It takes effect after a day, in which they can stop it: a mail tells them now.',
    immediately: 'Without the wait of a day',
    immediatelyHint: 'It takes effect at once. Only for Installation Operators.',
    sendReset: 'Send password reset',
    sendResetAbout: 'The usual mail goes to their verified address. You do not see its link.',
    impersonate: 'Act for them',
    impersonateAbout:
      'You get a token that acts for them for at most 15 minutes. It cannot change how they sign in, make keys or manage people. A mail tells them now, and each act names you in the audit log.',
  },
  de: {
    reason: 'Grund',
    reasonHint: 'Er steht im Protokoll, und wen es betrifft, liest ihn.',
    reasonLength: 'Schreiben Sie 10 bis 500 Zeichen.',
    suspend: 'Sperren',
    suspendAbout:
      'Die Person kann sich nicht anmelden, und ihre Sitzungen, Apps und Schlüssel werden abgelehnt. Nichts wird gelöscht.',
    reactivate: 'Entsperren',
    reactivateAbout: 'Die Person kann sich wieder anmelden, und ihre Schlüssel gelten wieder.',
    endSessions: 'Sitzungen beenden',
    endSessionsAbout: 'Die Person wird überall abgemeldet und kann sich gleich wieder anmelden.',
    resetFactor: 'Zweiten Faktor zurücksetzen',
    resetFactorAbout:
      'Für jemanden, der ihn verloren hat. Es wirkt nach einem Tag, in dem die Person es verhindern kann: Eine Mail sagt es ihr jetzt.',
    immediately: 'Ohne den Tag',
    immediatelyHint: 'Es wirkt sofort. Nur für Installation Operators.',
    sendReset: 'Passwort-Mail senden',
    sendResetAbout: 'Die übliche Mail geht an die bestätigte Adresse der Person. Sie sehen den Link nicht.',
    impersonate: 'Für die Person handeln',
    impersonateAbout:
      'Sie bekommen ein Token, das höchstens 15 Minuten für die Person handelt. Es kann nicht ändern, wie sie sich anmeldet, keine Schlüssel erstellen und niemanden verwalten. Eine Mail sagt es ihr jetzt, und jede Handlung nennt Sie im Protokoll.',
  },
  es: {
    reason: 'Motivo',
    reasonHint: 'Queda en el registro de auditoría, y lo leen las personas afectadas.',
    reasonLength: 'Escriba de 10 a 500 caracteres.',
    suspend: 'Suspender',
    suspendAbout:
      'La persona no puede iniciar sesión, y sus sesiones, aplicaciones y claves se rechazan. No se borra nada.',
    reactivate: 'Reactivar',
    reactivateAbout: 'La persona puede volver a iniciar sesión, y sus claves vuelven a funcionar.',
    endSessions: 'Terminar sesiones',
    endSessionsAbout: 'Se cierra su sesión en todas partes, y puede volver a iniciarla de inmediato.',
    resetFactor: 'Restablecer el segundo factor',
    resetFactorAbout:
      'Para quien lo ha perdido. Surte efecto en un día, en el que la persona puede impedirlo: un correo se lo dice ahora.',
    immediately: 'Sin el día de espera',
    immediatelyHint: 'Surte efecto de inmediato. Solo para Installation Operators.',
    sendReset: 'Enviar correo de contraseña',
    sendResetAbout: 'El correo habitual va a su dirección verificada. Usted no ve el enlace.',
    impersonate: 'Actuar en su nombre',
    impersonateAbout:
      'Recibe un token que actúa en su nombre durante 15 minutos como máximo. No puede cambiar cómo inicia sesión, crear claves ni administrar personas. Un correo se lo dice ahora, y cada acto le nombra a usted en el registro.',
  },
  fr: {
    reason: 'Motif',
    reasonHint: 'Il est inscrit au journal d’audit, et les personnes concernées le lisent.',
    reasonLength: 'Écrivez de 10 à 500 caractères.',
    suspend: 'Suspendre',
    suspendAbout:
      'La personne ne peut plus se connecter, et ses sessions, applications et clés sont refusées. Rien n’est supprimé.',
    reactivate: 'Réactiver',
    reactivateAbout: 'La personne peut de nouveau se connecter, et ses clés fonctionnent de nouveau.',
    endSessions: 'Mettre fin aux sessions',
    endSessionsAbout: 'La personne est déconnectée partout, et peut se reconnecter aussitôt.',
    resetFactor: 'Réinitialiser le second facteur',
    resetFactorAbout:
      'Pour qui l’a perdu. Cela prend effet après un jour, pendant lequel la personne peut l’empêcher : un e-mail le lui dit maintenant.',
    immediately: 'Sans ce jour d’attente',
    immediatelyHint: 'Cela prend effet aussitôt. Seulement pour les Installation Operators.',
    sendReset: 'Envoyer l’e-mail de mot de passe',
    sendResetAbout: 'L’e-mail habituel va à son adresse vérifiée. Vous ne voyez pas le lien.',
    impersonate: 'Agir en son nom',
    impersonateAbout:
      'Vous recevez un jeton qui agit en son nom pendant 15 minutes au plus. Il ne peut ni changer sa façon de se connecter, ni créer des clés, ni gérer des personnes. Un e-mail le lui dit maintenant, et chaque acte vous nomme dans le journal.',
  },
};
