import { DoorwardError } from '../../../errors.ts';
import { html } from '../../../html/html.ts';
import type { Language } from '../../../languages.ts';
import type { Bare } from '../../../http/account/account-calls.ts';
import { hiddenField } from '../../sign-in/app-page.ts';
import {
  accountForm,
  FieldProblem,
  pathOf,
  problemOf,
  shownTime,
  type AccountPage,
} from '../account-page.ts';
import { accountTexts } from '../account-texts.ts';
import { row, textField } from '../fields.ts';

interface Texts {
  readonly about: string;
  readonly email: string;
  readonly primary: string;
  readonly unverified: string;
  readonly lastUsed: string;
  readonly add: string;
  readonly addAbout: string;
  readonly firstPassword: string;
  readonly connect: string;
  readonly failed: string;
  readonly stepUpRequired: string;
  readonly alreadyLinked: string;
  readonly accessDenied: string;
  readonly emailNotVerified: string;
  readonly required: string;
}

const texts: Record<Language, Texts> = {
  en: {
    about: 'Addresses and accounts with which you sign in. We send mail to the one marked “your address”.',
    email: 'E-mail address',
    primary: 'your address',
    unverified: 'not verified',
    lastUsed: 'Last used',
    add: 'Add an e-mail address',
    addAbout: 'You can sign in with it after you have opened the link in the mail that we send there.',
    firstPassword: 'Password, only if you have none yet',
    connect: 'Connect {name}',
    failed: 'The account was not connected. Try again later.',
    stepUpRequired: 'To connect an account, sign out, sign in again, and try again.',
    alreadyLinked:
      'The account or its address belongs to another user here, or you already have five ways to sign in, which is the most: remove one first.',
    accessDenied: 'The account was not connected, because you declined.',
    emailNotVerified: 'The account has no verified e-mail address.',
    required:
      'An organization of yours requires its own sign-in for people with this address. Leave the organization first, then remove the address.',
  },
  de: {
    about:
      'Adressen und Konten, mit denen Sie sich anmelden. Mails gehen an die mit „Ihre Adresse“ gekennzeichnete.',
    email: 'E-Mail-Adresse',
    primary: 'Ihre Adresse',
    unverified: 'nicht bestätigt',
    lastUsed: 'Zuletzt benutzt',
    add: 'E-Mail-Adresse hinzufügen',
    addAbout:
      'Sie können sich damit anmelden, sobald Sie den Link in der Mail geöffnet haben, die wir dorthin senden.',
    firstPassword: 'Passwort, nur wenn Sie noch keines haben',
    connect: '{name} verbinden',
    failed: 'Das Konto wurde nicht verbunden. Versuchen Sie es später noch einmal.',
    stepUpRequired:
      'Um ein Konto zu verbinden, melden Sie sich ab und wieder an, und versuchen Sie es noch einmal.',
    alreadyLinked:
      'Das Konto oder seine Adresse gehört hier zu jemand anderem, oder Sie haben schon fünf Anmeldewege, mehr sind nicht möglich: entfernen Sie erst einen.',
    accessDenied: 'Das Konto wurde nicht verbunden, weil Sie abgelehnt haben.',
    emailNotVerified: 'Das Konto hat keine bestätigte E-Mail-Adresse.',
    required:
      'Eine Ihrer Organisationen verlangt für diese Adresse ihre eigene Anmeldung. Verlassen Sie zuerst die Organisation, dann können Sie die Adresse entfernen.',
  },
  es: {
    about:
      'Direcciones y cuentas con las que inicia sesión. Los correos van a la marcada como «su dirección».',
    email: 'Correo electrónico',
    primary: 'su dirección',
    unverified: 'sin verificar',
    lastUsed: 'Último uso',
    add: 'Añadir un correo electrónico',
    addAbout: 'Podrá iniciar sesión con él cuando abra el enlace del correo que le enviaremos allí.',
    firstPassword: 'Contraseña, solo si aún no tiene',
    connect: 'Conectar {name}',
    failed: 'La cuenta no se conectó. Inténtelo más tarde.',
    stepUpRequired:
      'Para conectar una cuenta, cierre la sesión, inicie sesión de nuevo e inténtelo otra vez.',
    alreadyLinked:
      'La cuenta o su dirección pertenece aquí a otra persona, o usted ya tiene cinco formas de acceso, el máximo: quite antes una.',
    accessDenied: 'La cuenta no se conectó porque usted lo rechazó.',
    emailNotVerified: 'La cuenta no tiene una dirección de correo verificada.',
    required:
      'Una organización suya exige su propio inicio de sesión a las personas con esta dirección. Abandone primero la organización y quite después la dirección.',
  },
  fr: {
    about:
      'Adresses et comptes avec lesquels vous vous connectez. Les e-mails vont à celle marquée « votre adresse ».',
    email: 'Adresse e-mail',
    primary: 'votre adresse',
    unverified: 'non vérifiée',
    lastUsed: 'Dernière utilisation',
    add: 'Ajouter une adresse e-mail',
    addAbout:
      'Vous pourrez vous connecter avec elle après avoir ouvert le lien de l’e-mail que nous y envoyons.',
    firstPassword: 'Mot de passe, seulement si vous n’en avez pas',
    connect: 'Associer un compte {name}',
    failed: 'Le compte n’a pas été associé. Réessayez plus tard.',
    stepUpRequired: 'Pour associer un compte, déconnectez-vous, reconnectez-vous et réessayez.',
    alreadyLinked:
      'Le compte ou son adresse appartient ici à une autre personne, ou vous avez déjà cinq moyens de connexion, le maximum : retirez-en un d’abord.',
    accessDenied: 'Le compte n’a pas été associé, car vous avez refusé.',
    emailNotVerified: 'Le compte n’a pas d’adresse e-mail vérifiée.',
    required:
      'L’une de vos organisations exige sa propre connexion pour les personnes ayant cette adresse. Quittez d’abord l’organisation, puis supprimez l’adresse.',
  },
};

interface Method {
  readonly id: string;
  readonly provider: 'email' | 'github' | 'oidc';
  readonly providerKey: string | null;
  readonly label: string;
  readonly isVerified: boolean;
  readonly isPrimary: boolean;
  readonly lastUsedAt: string | null;
}

interface Provider {
  readonly key: string;
  readonly name: string;
}

const section = 'providers';
const keyOf = ({ provider, providerKey }: Method): string => providerKey ?? provider;
const explained = ['stepUpRequired', 'alreadyLinked', 'accessDenied', 'emailNotVerified'] as const;

/** Shows the addresses and provider accounts with which the user signs in. */
export const providersPage: AccountPage = {
  section,
  // The form that connects an account leads to the provider.
  formAction: "'self' https: http:",
  lengths: { providerId: 255 },
  async body(view) {
    const { language, caller, entered, error } = view;
    const words = texts[language];
    const remove = accountTexts[language];
    const { items } = (await caller.call('myAuthenticationMethods', { limit: 100 })) as {
      readonly items: readonly Method[];
    };
    const { items: providers } = (await caller.call('signInProviders', {})) as {
      readonly items: readonly Provider[];
    };
    const rows = items.map((method) => {
      const name = providers.find(({ key }) => key === keyOf(method))?.name ?? keyOf(method);
      const kind = method.provider === 'email' ? words.email : name;
      const states = [method.isPrimary && words.primary, !method.isVerified && words.unverified];
      return row(view, {
        section,
        id: method.id,
        title: method.label,
        lines: [
          [kind, ...states.filter((state) => state !== false)].join(' · '),
          ...(method.lastUsedAt === null
            ? []
            : [html`${words.lastUsed}: ${shownTime(language, method.lastUsedAt)}`]),
        ],
        form: {
          name: 'remove',
          button: remove.remove,
          label: remove.removeNamed.replace('{name}', () => `${method.label}, ${kind}`),
        },
      });
    });
    const unlinked = providers.filter(({ key }) => items.every((method) => keyOf(method) !== key));
    const reason = explained.find((each) => each === error) ?? 'failed';
    const fields = html`${textField({
      id: 'providerId',
      label: words.email,
      value: entered['providerId'] ?? '',
      problem: problemOf(view, 'add', 'providerId'),
      attributes: html`type="email" autocomplete="email" maxlength="320"`,
    })}
    ${textField({
      id: 'password',
      label: words.firstPassword,
      problem: problemOf(view, 'add', 'providerData.password'),
      attributes: html`type="password" autocomplete="new-password" maxlength="128"`,
      isOptional: true,
    })}`;
    return html`${error !== undefined && html`<p role="alert" class="bad">${words[reason]}</p>`}
      <p>${words.about}</p>
      <ul class="rows">
        ${rows}
      </ul>
      ${unlinked.map(({ key, name }) =>
        accountForm(view, {
          name: 'connect',
          section,
          button: words.connect.replace('{name}', () => name),
          fields: hiddenField('key', key),
          isQuiet: true,
        }),
      )}
      <h2>${words.add}</h2>
      <p>${words.addAbout}</p>
      ${accountForm(view, { name: 'add', section, button: words.add, fields })}`;
  },
  forms: {
    async add({ providerId = '', password = '' }, { caller }) {
      const first = password === '' ? {} : { providerData: { password } };
      await caller.call('addMyAuthenticationMethod', { provider: 'email', providerId, ...first });
      return 'saved';
    },
    async remove({ id = '' }, { caller, language }) {
      await caller.call('removeMyAuthenticationMethod', { id }).catch((error: unknown) => {
        if (error instanceof DoorwardError && error.code === 'IN_USE')
          throw new FieldProblem('', texts[language].required);
        throw error;
      });
      return 'saved';
    },
    async connect({ key = '' }, { caller, addresses }) {
      const input = { action: 'connect', redirect: addresses.addressOf(pathOf(section)) };
      const { headers } = (await (key === 'github'
        ? caller.call('startGithubSignIn', input)
        : caller.call('startProviderSignIn', { ...input, key }))) as Bare;
      return { redirectTo: headers['location'] ?? pathOf(section) };
    },
  },
};
