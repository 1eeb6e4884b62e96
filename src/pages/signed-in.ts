import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../events/mail-layout.ts';
import type { Language } from '../i18n/translate.ts';
import { hostedPage, servePage } from './page.ts';

/**
 * The end of a sign-in through another site, for installations without a frontend of their own. It says what `error` of
 * its address means, and shows nothing else of the address. It needs no script.
 */
interface Texts {
  readonly done: { readonly title: string; readonly text: string };
  readonly failed: { readonly title: string; readonly text: string };
  readonly errors: Readonly<Record<string, string>>;
}

const texts: Record<Language, Texts> = {
  en: {
    done: { title: 'You are signed in', text: 'You can close this page.' },
    failed: { title: 'That did not work', text: 'Please start again.' },
    errors: {
      accessDenied: 'The sign-in was refused: by you at GitHub, or because this user may not sign in now.',
      invalidState: 'This attempt is no longer valid. Please start again.',
      emailNotVerified:
        'Your GitHub account has no verified primary e-mail address. Verify one at GitHub, then start again.',
      alreadyLinked:
        'This GitHub account cannot be connected: it or its address belongs to another user, or you have as many ways to sign in as possible.',
      signUpDisabled: 'There is no user for this GitHub account, and registration is closed here.',
      stepUpRequired: 'Sign in again first, then connect GitHub.',
      providerUnavailable:
        'GitHub could not be reached, or did not confirm who you are. Please try again in a moment.',
    },
  },
  de: {
    done: { title: 'Sie sind angemeldet', text: 'Sie können diese Seite schließen.' },
    failed: { title: 'Das hat nicht funktioniert', text: 'Bitte beginnen Sie noch einmal.' },
    errors: {
      accessDenied:
        'Die Anmeldung wurde abgelehnt: von Ihnen bei GitHub, oder weil sich dieser Benutzer jetzt nicht anmelden darf.',
      invalidState: 'Dieser Versuch ist nicht mehr gültig. Bitte beginnen Sie noch einmal.',
      emailNotVerified:
        'Ihr GitHub-Konto hat keine bestätigte primäre E-Mail-Adresse. Bestätigen Sie eine bei GitHub und beginnen Sie noch einmal.',
      alreadyLinked:
        'Dieses GitHub-Konto lässt sich nicht verbinden: Es oder seine Adresse gehört einem anderen Benutzer, oder Sie haben bereits so viele Anmeldewege wie möglich.',
      signUpDisabled:
        'Zu diesem GitHub-Konto gibt es keinen Benutzer, und die Registrierung ist geschlossen.',
      stepUpRequired: 'Melden Sie sich zuerst noch einmal an und verbinden Sie dann GitHub.',
      providerUnavailable:
        'GitHub war nicht erreichbar oder hat nicht bestätigt, wer Sie sind. Bitte versuchen Sie es gleich noch einmal.',
    },
  },
  es: {
    done: { title: 'Ha iniciado sesión', text: 'Puede cerrar esta página.' },
    failed: { title: 'No ha funcionado', text: 'Empiece de nuevo.' },
    errors: {
      accessDenied:
        'El inicio de sesión se ha rechazado: por usted en GitHub, o porque este usuario no puede iniciar sesión ahora.',
      invalidState: 'Este intento ya no es válido. Empiece de nuevo.',
      emailNotVerified:
        'Su cuenta de GitHub no tiene una dirección de correo principal verificada. Verifique una en GitHub y empiece de nuevo.',
      alreadyLinked:
        'No se puede conectar esta cuenta de GitHub: ella o su dirección pertenece a otro usuario, o usted ya tiene tantas formas de iniciar sesión como es posible.',
      signUpDisabled: 'No hay ningún usuario para esta cuenta de GitHub y el registro está cerrado.',
      stepUpRequired: 'Inicie sesión de nuevo y después conecte GitHub.',
      providerUnavailable:
        'No se ha podido contactar con GitHub, o no ha confirmado quién es usted. Inténtelo de nuevo en un momento.',
    },
  },
  fr: {
    done: { title: 'Vous êtes connecté', text: 'Vous pouvez fermer cette page.' },
    failed: { title: "Cela n'a pas fonctionné", text: 'Veuillez recommencer.' },
    errors: {
      accessDenied:
        "La connexion a été refusée : par vous sur GitHub, ou parce que cet utilisateur n'est pas autorisé à se connecter maintenant.",
      invalidState: "Cette tentative n'est plus valide. Veuillez recommencer.",
      emailNotVerified:
        "Votre compte GitHub n'a pas d'adresse e-mail principale vérifiée. Vérifiez-en une sur GitHub, puis recommencez.",
      alreadyLinked:
        'Ce compte GitHub ne peut pas être associé : il appartient, ou son adresse appartient, à un autre utilisateur, ou vous avez déjà autant de moyens de connexion que possible.',
      signUpDisabled: "Aucun utilisateur ne correspond à ce compte GitHub et l'inscription est fermée ici.",
      stepUpRequired: "Reconnectez-vous d'abord, puis associez GitHub.",
      providerUnavailable:
        "GitHub n'a pas pu être joint ou n'a pas confirmé votre identité. Réessayez dans un instant.",
    },
  },
};

function page(language: Language, error: unknown): string {
  const { done, failed, errors } = texts[language];
  const { title, text } = error === undefined ? done : failed;
  const known = typeof error === 'string' && Object.hasOwn(errors, error) ? errors[error] : undefined;
  const body = `      <h1>${escapeHtml(title)}</h1>
      <p id="outcome" role="status" class="${error === undefined ? 'good' : 'bad'}">${escapeHtml(known ?? text)}</p>`;
  return hostedPage({ language, title, body });
}

/** Serves `/hosted/signed-in`. */
export const registerSignedInPage = (app: FastifyInstance): void =>
  servePage(app, {
    path: '/hosted/signed-in',
    page: (language, request) => page(language, (request.query as { error?: unknown }).error),
  });
