import type { EntityTexts } from '../../../entities/declarations/entity.ts';
import type { Texts } from '../../../i18n/language.ts';
import { colourTexts, type ColourTexts } from '../../branding/branding-texts.ts';
import { profileTexts, type ProfileTexts } from '../token-profile.ts';

export interface AppTexts extends EntityTexts, ProfileTexts, ColourTexts {
  readonly nameHint: string;
  readonly clientId: string;
  readonly redirects: string;
  readonly redirectsHint: string;
  readonly providers: string;
  readonly email: string;
  readonly password: string;
  readonly passkey: string;
  readonly github: string;
  readonly restrict: string;
  readonly restrictHint: string;
  readonly scopes: string;
  readonly scopesHint: string;
  readonly all: string;
  readonly signUp: string;
  readonly signUpHint: string;
  readonly role: string;
  readonly firstParty: string;
  readonly firstPartyHint: string;
  readonly idTokenClaims: string;
  readonly idTokenClaimsHint: string;
  readonly logo: string;
  readonly homepage: string;
  readonly color: string;
  readonly senderName: string;
  readonly senderNameHint: string;
  readonly texts: string;
  readonly textsHint: string;
  readonly origins: string;
  readonly originsHint: string;
  readonly logoutRedirects: string;
  readonly logoutRedirectsHint: string;
  readonly logoutNotice: string;
  readonly logoutNoticeHint: string;
  readonly resources: string;
  readonly resourcesHint: string;
  readonly confidential: string;
  readonly confidentialHint: string;
  /** Column headings for `signUp` and `confidential`. */
  readonly signUpColumn: string;
  readonly confidentialColumn: string;
  /** Marks an app that a client has created by dynamic registration. */
  readonly registered: string;
  readonly registeredColumn: string;
  readonly registeredAbout: string;
  readonly rotate: string;
  readonly rotateAbout: string;
  readonly openSignIn: string;
  readonly openSignInHint: string;
}

export const appTexts: Texts<AppTexts> = {
  en: {
    ...profileTexts.en,
    ...colourTexts.en,
    resources: 'Resource servers',
    resourcesHint:
      'URIs of services for which the app may request access tokens; one on each line, such as https://api.example.com.',
    title: 'Apps',
    about:
      'People sign in to an app on pages of this service. The app then acts for them, as far as they agree.',
    create: 'New app',
    empty: 'There are no apps yet. Add one, and people of this project can sign in to it.',
    removal: 'Nobody can sign in to the app any more, and its sessions end.',
    nameHint: 'The sign-in pages call the app so.',
    clientId: 'Client id',
    redirects: 'Redirect addresses',
    redirectsHint: 'Where people go after the sign-in; one on each line, exactly as the app sends it.',
    providers: 'Ways to sign in',
    email: 'Code by e-mail',
    password: 'Password',
    passkey: 'Passkey',
    github: 'GitHub',
    restrict: 'Restrict what the app may do',
    restrictHint: 'Otherwise it may do all that the person may do who signed in.',
    scopes: 'Permissions',
    scopesHint: 'One on each line, such as invoice:read. Without any, the app may do nothing.',
    all: 'all that the person may do',
    signUp: 'New people may join',
    signUpHint: 'Whoever signs in becomes a user of this project.',
    role: 'They join with the role',
    firstParty: 'App of your own',
    firstPartyHint:
      'People are not asked to consent. Only owners and administrators can set this, shortly after their sign-in.',
    idTokenClaims: 'Name and e-mail in the id_token',
    idTokenClaimsHint:
      'For clients that don’t read user info, such as Auth.js. The app learns no more than there.',
    logo: 'Address of the logo',
    homepage: 'Web site',
    color: 'Colour of the sign-in pages',
    senderName: 'Sender of its mails',
    senderNameHint: 'A name; the mail address stays that of the service.',
    texts: 'Texts of pages and mails',
    textsHint:
      'A list of {purpose, language, subject, text}. Purposes: signInPage, signInMail, verificationMail, resetMail. No links, no long numbers; {app} is the name of the app.',
    origins: 'Allowed origins',
    originsHint:
      'Web pages that may read the answers to this app; one on each line, such as https://app.example.com.',
    logoutRedirects: 'Addresses after a sign-out',
    logoutRedirectsHint:
      'Addresses to which the browser may return after a sign-out; one on each line, exactly as the app sends them.',
    logoutNotice: 'Back-channel logout address',
    logoutNoticeHint:
      'Doorward sends a signed message there when a session of the app ends. An https address that can be reached from the internet.',
    confidential: 'The app keeps a secret',
    confidentialHint: 'For apps on a server. Apps in a browser or on a phone cannot keep one.',
    signUpColumn: 'Sign-up',
    confidentialColumn: 'Secret',
    registered: 'registered',
    registeredColumn: 'Registration',
    registeredAbout:
      'A client made this app by itself, by dynamic registration. Its name comes from the client, and nobody has checked it.',
    rotate: 'New secret',
    rotateAbout:
      'The old secret ends at once: the app gets no tokens until it has the new one. Sessions go on.',
    openSignIn: 'Open the sign-in page',
    openSignInHint:
      'A trial: the sign-in leads to the first redirect address, with a code that the app cannot use.',
  },
  de: {
    ...profileTexts.de,
    ...colourTexts.de,
    resources: 'Ressourcenserver',
    resourcesHint:
      'URIs von Diensten, für die die App Zugriffstoken anfordern darf; einer je Zeile, etwa https://api.example.com.',
    title: 'Apps',
    about:
      'Bei einer App melden sich Menschen auf Seiten dieses Dienstes an. Die App handelt dann für sie, soweit sie zustimmen.',
    create: 'Neue App',
    empty:
      'Es gibt noch keine Apps. Legen Sie eine an, dann können sich die Personen dieses Projekts bei ihr anmelden.',
    removal: 'Niemand kann sich mehr bei der App anmelden, und ihre Sitzungen enden.',
    nameHint: 'So nennen die Anmeldeseiten die App.',
    clientId: 'Client-ID',
    redirects: 'Rücksprungadressen',
    redirectsHint: 'Wohin es nach der Anmeldung geht; eine je Zeile, genau so, wie die App sie sendet.',
    providers: 'Wege der Anmeldung',
    email: 'Code per E-Mail',
    password: 'Passwort',
    passkey: 'Passkey',
    github: 'GitHub',
    restrict: 'Einschränken, was die App darf',
    restrictHint: 'Sonst darf sie alles, was die angemeldete Person darf.',
    scopes: 'Berechtigungen',
    scopesHint: 'Eine je Zeile, etwa invoice:read. Ohne Angabe darf die App nichts.',
    all: 'alles, was die Person darf',
    signUp: 'Neue Personen dürfen beitreten',
    signUpHint: 'Wer sich anmeldet, gehört danach zu diesem Projekt.',
    role: 'Sie treten bei mit der Rolle',
    firstParty: 'Eigene App',
    firstPartyHint:
      'Personen werden nicht um Zustimmung gebeten. Nur Eigentümer und Administratoren können das setzen, kurz nach ihrer Anmeldung.',
    idTokenClaims: 'Name und E-Mail im id_token',
    idTokenClaimsHint:
      'Für Clients, die User-Info nicht lesen, etwa Auth.js. Die App erfährt nicht mehr als dort.',
    logo: 'Adresse des Logos',
    homepage: 'Website',
    color: 'Farbe der Anmeldeseiten',
    senderName: 'Absender ihrer E-Mails',
    senderNameHint: 'Ein Name; die E-Mail-Adresse bleibt die des Dienstes.',
    texts: 'Texte von Seiten und E-Mails',
    textsHint:
      'Eine Liste von {purpose, language, subject, text}. Zwecke: signInPage, signInMail, verificationMail, resetMail. Keine Links, keine langen Zahlen; {app} ist der Name der App.',
    origins: 'Erlaubte Ursprünge',
    originsHint:
      'Webseiten, die Antworten an diese App lesen dürfen; einer je Zeile, etwa https://app.example.com.',
    logoutRedirects: 'Adressen nach der Abmeldung',
    logoutRedirectsHint:
      'Adressen, zu denen der Browser nach dem Abmelden zurückkehren darf; eine je Zeile, genau so, wie die App sie sendet.',
    logoutNotice: 'Adresse für Back-Channel-Logout',
    logoutNoticeHint:
      'Doorward sendet eine signierte Nachricht dorthin, wenn eine Sitzung der App endet. Eine https-Adresse, die aus dem Internet erreichbar ist.',
    confidential: 'Die App bewahrt ein Geheimnis',
    confidentialHint:
      'Für Apps auf einem Server. Apps im Browser oder auf dem Telefon können keines bewahren.',
    signUpColumn: 'Beitritt',
    confidentialColumn: 'Geheimnis',
    registered: 'registriert',
    registeredColumn: 'Registrierung',
    registeredAbout:
      'Ein Client hat diese App selbst angelegt, durch dynamische Registrierung. Ihr Name stammt vom Client; niemand hat ihn geprüft.',
    rotate: 'Neues Geheimnis',
    rotateAbout:
      'Das alte Geheimnis endet sofort: Die App erhält keine Tokens, bis sie das neue hat. Sitzungen laufen weiter.',
    openSignIn: 'Anmeldeseite öffnen',
    openSignInHint:
      'Zur Probe: Die Anmeldung führt zur ersten Rücksprungadresse, mit einem Code, den die App nicht verwenden kann.',
  },
  es: {
    ...profileTexts.es,
    ...colourTexts.es,
    resources: 'Servidores de recursos',
    resourcesHint:
      'URI de servicios para los que la aplicación puede pedir tokens de acceso; uno por línea, como https://api.example.com.',
    title: 'Aplicaciones',
    about:
      'Las personas inician sesión en una aplicación en páginas de este servicio. La aplicación actúa por ellas hasta donde lo permiten.',
    create: 'Nueva aplicación',
    empty:
      'Aún no hay aplicaciones. Añada una y las personas de este proyecto podrán iniciar sesión en ella.',
    removal: 'Nadie puede volver a iniciar sesión en la aplicación, y sus sesiones terminan.',
    nameHint: 'Así llaman a la aplicación las páginas de inicio de sesión.',
    clientId: 'Id de cliente',
    redirects: 'Direcciones de retorno',
    redirectsHint:
      'Adónde se va tras iniciar sesión; una por línea, exactamente como la envía la aplicación.',
    providers: 'Formas de iniciar sesión',
    email: 'Código por correo',
    password: 'Contraseña',
    passkey: 'Llave de acceso',
    github: 'GitHub',
    restrict: 'Limitar lo que la aplicación puede hacer',
    restrictHint: 'Si no, puede hacer todo lo que puede la persona que inició sesión.',
    scopes: 'Permisos',
    scopesHint: 'Uno por línea, como invoice:read. Sin ninguno, la aplicación no puede hacer nada.',
    all: 'todo lo que puede la persona',
    signUp: 'Pueden unirse personas nuevas',
    signUpHint: 'Quien inicia sesión pasa a ser usuario de este proyecto.',
    role: 'Se unen con el rol',
    firstParty: 'Aplicación propia',
    firstPartyHint:
      'No se pide el consentimiento de las personas. Solo propietarios y administradores pueden activarlo, poco después de iniciar sesión.',
    idTokenClaims: 'Nombre y correo en el id_token',
    idTokenClaimsHint:
      'Para clientes que no leen la información del usuario, como Auth.js. La aplicación no recibe más datos que allí.',
    logo: 'Dirección del logotipo',
    homepage: 'Sitio web',
    color: 'Color de las páginas de inicio de sesión',
    senderName: 'Remitente de sus mensajes',
    senderNameHint: 'Un nombre; la dirección de correo sigue siendo la del servicio.',
    texts: 'Textos de páginas y mensajes',
    textsHint:
      'Una lista de {purpose, language, subject, text}. Fines: signInPage, signInMail, verificationMail, resetMail. Sin enlaces ni números largos; {app} es el nombre de la aplicación.',
    origins: 'Orígenes permitidos',
    originsHint:
      'Páginas web que pueden leer las respuestas a esta aplicación; una por línea, como https://app.example.com.',
    logoutRedirects: 'Direcciones tras cerrar sesión',
    logoutRedirectsHint:
      'Direcciones a las que el navegador puede volver tras cerrar sesión; una por línea, exactamente como las envía la aplicación.',
    logoutNotice: 'Dirección de cierre de sesión (back-channel logout)',
    logoutNoticeHint:
      'Doorward envía allí un mensaje firmado cuando termina una sesión de la aplicación. Una dirección https accesible desde internet.',
    confidential: 'La aplicación guarda un secreto',
    confidentialHint:
      'Para aplicaciones en un servidor. Las de un navegador o un teléfono no pueden guardarlo.',
    signUpColumn: 'Registro',
    confidentialColumn: 'Secreto',
    registered: 'registrada',
    registeredColumn: 'Registro',
    registeredAbout:
      'Un cliente creó esta aplicación por sí mismo, mediante registro dinámico. El nombre lo puso el cliente y nadie lo ha comprobado.',
    rotate: 'Nuevo secreto',
    rotateAbout:
      'El secreto anterior termina de inmediato: la aplicación no recibe tokens hasta tener el nuevo. Las sesiones siguen.',
    openSignIn: 'Abrir la página de inicio de sesión',
    openSignInHint:
      'Una prueba: el inicio de sesión lleva a la primera dirección de retorno, con un código que la aplicación no puede usar.',
  },
  fr: {
    ...profileTexts.fr,
    ...colourTexts.fr,
    resources: 'Serveurs de ressources',
    resourcesHint:
      'URI de services pour lesquels l’application peut demander des jetons d’accès ; un par ligne, comme https://api.example.com.',
    title: 'Applications',
    about:
      'On se connecte à une application sur des pages de ce service. L’application agit ensuite pour la personne, dans la mesure où elle l’accepte.',
    create: 'Nouvelle application',
    empty:
      'Il n’y a pas encore d’applications. Ajoutez-en une, et les utilisateurs de ce projet pourront s’y connecter.',
    removal: 'Plus personne ne peut se connecter à l’application, et ses sessions prennent fin.',
    nameHint: 'Les pages de connexion nomment ainsi l’application.',
    clientId: 'Id de client',
    redirects: 'Adresses de retour',
    redirectsHint: 'Où l’on va après la connexion ; une par ligne, exactement comme l’application l’envoie.',
    providers: 'Moyens de connexion',
    email: 'Code par e-mail',
    password: 'Mot de passe',
    passkey: 'Clé d’accès',
    github: 'GitHub',
    restrict: 'Limiter ce que l’application peut faire',
    restrictHint: 'Sinon, elle peut faire tout ce que peut la personne connectée.',
    scopes: 'Permissions',
    scopesHint: 'Une par ligne, comme invoice:read. Sans aucune, l’application ne peut rien faire.',
    all: 'tout ce que peut la personne',
    signUp: 'De nouvelles personnes peuvent rejoindre le projet',
    signUpHint: 'Quiconque se connecte devient utilisateur de ce projet.',
    role: 'Elles rejoignent avec le rôle',
    firstParty: 'Application à vous',
    firstPartyHint:
      'Le consentement n’est pas demandé. Seuls propriétaires et administrateurs peuvent l’activer, peu après leur connexion.',
    idTokenClaims: 'Nom et e-mail dans l’id_token',
    idTokenClaimsHint:
      'Pour les clients qui ne lisent pas les informations de l’utilisateur, comme Auth.js. L’application n’en apprend pas davantage.',
    logo: 'Adresse du logo',
    homepage: 'Site web',
    color: 'Couleur des pages de connexion',
    senderName: 'Expéditeur de ses e-mails',
    senderNameHint: 'Un nom ; l’adresse e-mail reste celle du service.',
    texts: 'Textes des pages et des e-mails',
    textsHint:
      'Une liste de {purpose, language, subject, text}. Usages : signInPage, signInMail, verificationMail, resetMail. Ni liens ni longs nombres ; {app} est le nom de l’application.',
    origins: 'Origines autorisées',
    originsHint:
      'Pages web qui peuvent lire les réponses à cette application ; une par ligne, comme https://app.example.com.',
    logoutRedirects: 'Adresses après la déconnexion',
    logoutRedirectsHint:
      'Adresses vers lesquelles le navigateur peut revenir après la déconnexion ; une par ligne, exactement comme l’application les envoie.',
    logoutNotice: 'Adresse de déconnexion (back-channel logout)',
    logoutNoticeHint:
      'Doorward y envoie un message signé quand une session de l’application prend fin. Une adresse https joignable depuis Internet.',
    confidential: 'L’application garde un secret',
    confidentialHint:
      'Pour les applications sur un serveur. Dans un navigateur ou un téléphone, elles ne le peuvent pas.',
    signUpColumn: 'Inscription',
    confidentialColumn: 'Secret',
    registered: 'enregistrée',
    registeredColumn: 'Enregistrement',
    registeredAbout:
      'Un client a créé lui-même cette application, par enregistrement dynamique. Son nom vient du client et personne ne l’a vérifié.',
    rotate: 'Nouveau secret',
    rotateAbout:
      'L’ancien secret prend fin aussitôt : l’application n’obtient plus de jetons avant d’avoir le nouveau. Les sessions continuent.',
    openSignIn: 'Ouvrir la page de connexion',
    openSignInHint:
      'Un essai : la connexion mène à la première adresse de retour, avec un code que l’application ne peut pas utiliser.',
  },
};
