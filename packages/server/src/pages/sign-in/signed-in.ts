import type { FastifyInstance } from 'fastify';
import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../languages.ts';
import { hostedPage, servePage } from '../page.ts';
import type { PageSettings } from '../page-settings.ts';

interface Outcome {
  readonly title: string;
  readonly text: string;
  readonly button: string;
}

/*
 * The page on which a sign-in through another site ends, for installations without a frontend. The page explains the
 * code in the parameter `error` and shows nothing else of its address. It has no script, and does not know who opens
 * it, so it does not say that the person is signed in.
 */

interface Texts {
  readonly done: Outcome;
  readonly failed: Outcome;
  readonly errors: Readonly<Record<string, string>>;
}

const texts: Record<Language, Texts> = {
  en: {
    done: {
      title: 'The sign-in is complete',
      text: 'You can go on now, or close this page.',
      button: 'Continue',
    },
    failed: { title: 'That did not work', text: 'Please start again.', button: 'Try again' },
    errors: {
      accessDenied: 'You cancelled the request, or this user is currently not allowed to sign in.',
      invalidState: 'This sign-in has expired. Please start again.',
      emailNotVerified:
        'The account has no verified e-mail address. Verify one at its provider, then start again.',
      alreadyLinked:
        'This account cannot be connected: it or its e-mail address already belongs to another user, or you have reached the maximum number of ways to sign in.',
      signUpDisabled: 'No user has this account, and new users cannot register here.',
      stepUpRequired: 'For your security, sign in again first. Then connect the account.',
      providerUnavailable:
        'We could not reach the provider, or it did not confirm who you are. Please try again in a moment.',
    },
  },
  de: {
    done: {
      title: 'Die Anmeldung ist abgeschlossen',
      text: 'Sie können jetzt fortfahren oder diese Seite schließen.',
      button: 'Weiter',
    },
    failed: {
      title: 'Das hat nicht funktioniert',
      text: 'Bitte beginnen Sie noch einmal.',
      button: 'Erneut versuchen',
    },
    errors: {
      accessDenied:
        'Sie haben den Vorgang abgebrochen, oder dieser Benutzer darf sich zurzeit nicht anmelden.',
      invalidState: 'Diese Anmeldung ist abgelaufen. Bitte beginnen Sie noch einmal.',
      emailNotVerified:
        'Das Konto hat keine bestätigte E-Mail-Adresse. Bestätigen Sie eine beim Anbieter des Kontos und beginnen Sie noch einmal.',
      alreadyLinked:
        'Dieses Konto lässt sich nicht verbinden: Das Konto oder seine E-Mail-Adresse gehört schon zu einem anderen Benutzer, oder Sie haben die Höchstzahl an Anmeldewegen erreicht.',
      signUpDisabled:
        'Zu diesem Konto gibt es keinen Benutzer, und neue Benutzer können sich hier nicht registrieren.',
      stepUpRequired: 'Melden Sie sich zu Ihrer Sicherheit zuerst erneut an. Verbinden Sie dann das Konto.',
      providerUnavailable:
        'Wir konnten den Anbieter nicht erreichen, oder er hat nicht bestätigt, wer Sie sind. Bitte versuchen Sie es gleich noch einmal.',
    },
  },
  es: {
    done: {
      title: 'El inicio de sesión ha terminado',
      text: 'Ahora puede continuar o cerrar esta página.',
      button: 'Continuar',
    },
    failed: { title: 'No ha funcionado', text: 'Empiece de nuevo.', button: 'Intentar de nuevo' },
    errors: {
      accessDenied: 'Ha cancelado la operación, o este usuario no puede iniciar sesión en este momento.',
      invalidState: 'Este inicio de sesión ha caducado. Empiece de nuevo.',
      emailNotVerified:
        'La cuenta no tiene una dirección de correo verificada. Verifique una en su proveedor y empiece de nuevo.',
      alreadyLinked:
        'No se puede conectar esta cuenta: la cuenta o su dirección de correo ya pertenece a otro usuario, o usted ha alcanzado el número máximo de formas de iniciar sesión.',
      signUpDisabled: 'Ningún usuario tiene esta cuenta, y aquí no se pueden registrar usuarios nuevos.',
      stepUpRequired: 'Por su seguridad, inicie sesión de nuevo primero. Después conecte la cuenta.',
      providerUnavailable:
        'No hemos podido contactar con el proveedor, o este no ha confirmado quién es usted. Inténtelo de nuevo en un momento.',
    },
  },
  fr: {
    done: {
      title: 'La connexion est terminée',
      text: 'Vous pouvez maintenant continuer ou fermer cette page.',
      button: 'Continuer',
    },
    failed: { title: 'Cela n’a pas fonctionné', text: 'Veuillez recommencer.', button: 'Réessayer' },
    errors: {
      accessDenied:
        'Vous avez annulé l’opération, ou cet utilisateur n’est pas autorisé à se connecter actuellement.',
      invalidState: 'Cette connexion a expiré. Veuillez recommencer.',
      emailNotVerified:
        'Le compte n’a pas d’adresse e-mail vérifiée. Vérifiez-en une chez son fournisseur, puis recommencez.',
      alreadyLinked:
        'Ce compte ne peut pas être associé : ce compte ou son adresse e-mail appartient déjà à un autre utilisateur, ou vous avez atteint le nombre maximal de moyens de connexion.',
      signUpDisabled:
        'Aucun utilisateur n’a ce compte, et les nouvelles inscriptions ne sont pas possibles ici.',
      stepUpRequired: 'Pour votre sécurité, reconnectez-vous d’abord. Associez ensuite le compte.',
      providerUnavailable:
        'Nous n’avons pas pu joindre le fournisseur, ou il n’a pas confirmé votre identité. Réessayez dans un instant.',
    },
  },
};

function page(language: Language, { home }: PageSettings, error: unknown): Html {
  const { done, failed, errors } = texts[language];
  const { title, text, button } = error === undefined ? done : failed;
  const explanation = typeof error === 'string' && Object.hasOwn(errors, error) ? errors[error] : undefined;
  const tone = error === undefined ? 'good' : 'bad';
  const body = html`<h1>${title}</h1>
    <p id="outcome" role="status" class="${tone}">${explanation ?? text}</p>
    <p class="other"><a class="button" href="${home}">${button}</a></p>`;
  return hostedPage({ language, title, body });
}

/** Serves `/hosted/signed-in`. */
export const registerSignedInPage = (app: FastifyInstance, settings: PageSettings): void =>
  servePage(app, {
    path: '/hosted/signed-in',
    page: (language, request) => page(language, settings, (request.query as { error?: unknown }).error),
  });
