import type { FastifyInstance } from 'fastify';
import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../i18n/translate.ts';
import { hostedPage, servePage } from '../page.ts';

/**
 * The texts of the page on which a sign-in through another site ends, for installations without a frontend. The page
 * explains the code in the parameter `error` and shows nothing else of its address. It has no script.
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
      accessDenied: 'You cancelled the request, or this user is currently not allowed to sign in.',
      invalidState: 'This sign-in has expired. Please start again.',
      emailNotVerified:
        'Your GitHub account has no verified primary e-mail address. Verify one at GitHub, then start again.',
      alreadyLinked:
        'This GitHub account cannot be connected: the account or its e-mail address already belongs to another user, or you have reached the maximum number of ways to sign in.',
      signUpDisabled: 'No user has this GitHub account, and new users cannot register here.',
      stepUpRequired: 'For your security, sign in again first. Then connect GitHub.',
      providerUnavailable:
        'We could not reach GitHub, or GitHub did not confirm who you are. Please try again in a moment.',
    },
  },
  de: {
    done: { title: 'Sie sind angemeldet', text: 'Sie können diese Seite schließen.' },
    failed: { title: 'Das hat nicht funktioniert', text: 'Bitte beginnen Sie noch einmal.' },
    errors: {
      accessDenied:
        'Sie haben den Vorgang abgebrochen, oder dieser Benutzer darf sich zurzeit nicht anmelden.',
      invalidState: 'Diese Anmeldung ist abgelaufen. Bitte beginnen Sie noch einmal.',
      emailNotVerified:
        'Ihr GitHub-Konto hat keine bestätigte primäre E-Mail-Adresse. Bestätigen Sie eine bei GitHub und beginnen Sie noch einmal.',
      alreadyLinked:
        'Dieses GitHub-Konto lässt sich nicht verbinden: Das Konto oder seine E-Mail-Adresse gehört schon zu einem anderen Benutzer, oder Sie haben die Höchstzahl an Anmeldewegen erreicht.',
      signUpDisabled:
        'Zu diesem GitHub-Konto gibt es keinen Benutzer, und neue Benutzer können sich hier nicht registrieren.',
      stepUpRequired: 'Melden Sie sich zu Ihrer Sicherheit zuerst erneut an. Verbinden Sie dann GitHub.',
      providerUnavailable:
        'Wir konnten GitHub nicht erreichen, oder GitHub hat nicht bestätigt, wer Sie sind. Bitte versuchen Sie es gleich noch einmal.',
    },
  },
  es: {
    done: { title: 'Ha iniciado sesión', text: 'Puede cerrar esta página.' },
    failed: { title: 'No ha funcionado', text: 'Empiece de nuevo.' },
    errors: {
      accessDenied: 'Ha cancelado la operación, o este usuario no puede iniciar sesión en este momento.',
      invalidState: 'Este inicio de sesión ha caducado. Empiece de nuevo.',
      emailNotVerified:
        'Su cuenta de GitHub no tiene una dirección de correo principal verificada. Verifique una en GitHub y empiece de nuevo.',
      alreadyLinked:
        'No se puede conectar esta cuenta de GitHub: la cuenta o su dirección de correo ya pertenece a otro usuario, o usted ha alcanzado el número máximo de formas de iniciar sesión.',
      signUpDisabled:
        'Ningún usuario tiene esta cuenta de GitHub, y aquí no se pueden registrar usuarios nuevos.',
      stepUpRequired: 'Por su seguridad, inicie sesión de nuevo primero. Después conecte GitHub.',
      providerUnavailable:
        'No hemos podido contactar con GitHub, o GitHub no ha confirmado quién es usted. Inténtelo de nuevo en un momento.',
    },
  },
  fr: {
    done: { title: 'Vous êtes connecté', text: 'Vous pouvez fermer cette page.' },
    failed: { title: 'Cela n’a pas fonctionné', text: 'Veuillez recommencer.' },
    errors: {
      accessDenied:
        'Vous avez annulé l’opération, ou cet utilisateur n’est pas autorisé à se connecter actuellement.',
      invalidState: 'Cette connexion a expiré. Veuillez recommencer.',
      emailNotVerified:
        'Votre compte GitHub n’a pas d’adresse e-mail principale vérifiée. Vérifiez-en une sur GitHub, puis recommencez.',
      alreadyLinked:
        'Ce compte GitHub ne peut pas être associé : le compte ou son adresse e-mail appartient déjà à un autre utilisateur, ou vous avez atteint le nombre maximal de moyens de connexion.',
      signUpDisabled:
        'Aucun utilisateur n’a ce compte GitHub, et les nouvelles inscriptions ne sont pas possibles ici.',
      stepUpRequired: 'Pour votre sécurité, reconnectez-vous d’abord. Associez ensuite GitHub.',
      providerUnavailable:
        'Nous n’avons pas pu joindre GitHub, ou GitHub n’a pas confirmé votre identité. Réessayez dans un instant.',
    },
  },
};

function page(language: Language, error: unknown): Html {
  const { done, failed, errors } = texts[language];
  const { title, text } = error === undefined ? done : failed;
  const explanation = typeof error === 'string' && Object.hasOwn(errors, error) ? errors[error] : undefined;
  const tone = error === undefined ? 'good' : 'bad';
  const body = html`<h1>${title}</h1>
    <p id="outcome" role="status" class="${tone}">${explanation ?? text}</p>`;
  return hostedPage({ language, title, body });
}

/** Serves `/hosted/signed-in`. */
export const registerSignedInPage = (app: FastifyInstance): void =>
  servePage(app, {
    path: '/hosted/signed-in',
    page: (language, request) => page(language, (request.query as { error?: unknown }).error),
  });
