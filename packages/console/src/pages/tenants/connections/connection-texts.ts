import type { components } from '@doorward/node/client';
import type { EntityTexts } from '../../../entities/declarations/entity.ts';
import type { Texts } from '../../../i18n/language.ts';

type Status = components['schemas']['OrganizationConnectionStatus'];
type Step = components['schemas']['ConnectionTestStep'];

export interface ConnectionTexts extends EntityTexts {
  readonly nameHint: string;
  readonly issuer: string;
  readonly issuerHint: string;
  readonly noAddress: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly secretHint: string;
  readonly secretKept: string;
  readonly domains: string;
  readonly domainsHint: string;
  readonly defaultRole: string;
  readonly roleHint: string;
  readonly statuses: Readonly<Record<Status, string>>;
  readonly statusHint: string;
  readonly justInTime: string;
  readonly justInTimeHint: string;
  readonly trustMfa: string;
  readonly trustMfaHint: string;
  readonly enforced: string;
  readonly enforcedHint: string;
  readonly lastUsed: string;
  readonly never: string;
  readonly callback: string;
  readonly callbackAbout: string;
  readonly notProved: string;
  readonly test: string;
  readonly testAbout: string;
  readonly testPassed: string;
  readonly testFailed: Readonly<Record<Step, string>>;
}

export const connectionTexts: Texts<ConnectionTexts> = {
  en: {
    title: 'Connections',
    about:
      'Identity providers of your organization, such as Okta or Microsoft Entra. People with an address of your domains sign in there, and become members.',
    create: 'Add a connection',
    empty: 'There are no connections yet. Verify a domain first, then add the provider of your company.',
    removal:
      'People no longer sign in through this provider. They stay members, and sessions that began through it last twelve hours at most.',
    nameHint: 'What people read on the sign-in page, such as the name of your company.',
    issuer: 'Issuer',
    issuerHint: 'The address of the provider, exactly as its own settings show it.',
    noAddress: 'Enter an address that begins with https://.',
    clientId: 'Client id',
    clientSecret: 'Client secret',
    secretHint: 'The provider shows it once. It is stored encrypted, and never shown here.',
    secretKept: 'Leave it empty to keep the present one.',
    domains: 'Domains',
    domainsHint:
      'The provider vouches for addresses in these domains. A domain counts as soon as it is verified.',
    defaultRole: 'Role of new members',
    roleHint: 'Who signs in for the first time gets this role.',
    statuses: { draft: 'draft', active: 'active', disabled: 'disabled' },
    statusHint: 'People sign in through it while it is active.',
    justInTime: 'New people become members',
    justInTimeHint: 'Otherwise only those sign in who are members already.',
    trustMfa: 'Trust the second factor of the provider',
    trustMfaHint: 'Where your organization requires a second factor, the one given there counts.',
    enforced: 'Only through this provider',
    enforcedHint:
      'Careful: members with an address of these domains who signed in another way lose access at once. Owners with a second factor still enter. It needs the status active, and a person who has signed in through the provider.',
    lastUsed: 'Last used',
    never: 'never',
    callback: 'Callback address',
    callbackAbout: 'Register it at the provider as the redirect address of this service.',
    notProved: 'So far no person has signed in with this issuer and client.',
    test: 'Test',
    testAbout:
      'The service asks the provider for its metadata and keys. Whether client id and secret are right shows at the first sign-in.',
    testPassed: 'The provider answers as it should.',
    testFailed: {
      metadata: 'The metadata of the provider could not be read.',
      keys: 'The keys of the provider could not be read.',
    },
  },
  de: {
    title: 'Verbindungen',
    about:
      'Identitätsanbieter Ihrer Organisation, etwa Okta oder Microsoft Entra. Wer eine Adresse Ihrer Domains hat, meldet sich dort an und wird Mitglied.',
    create: 'Verbindung hinzufügen',
    empty:
      'Es gibt noch keine Verbindungen. Weisen Sie erst eine Domain nach, dann fügen Sie den Anbieter Ihrer Firma hinzu.',
    removal:
      'Über diesen Anbieter meldet sich niemand mehr an. Mitglieder bleiben Mitglieder, und begonnene Sitzungen dauern höchstens zwölf Stunden.',
    nameHint: 'Was auf der Anmeldeseite steht, etwa der Name Ihrer Firma.',
    issuer: 'Aussteller',
    issuerHint: 'Die Adresse des Anbieters (Issuer), genau wie in dessen eigenen Einstellungen.',
    noAddress: 'Das muss eine Adresse sein, die mit https:// beginnt.',
    clientId: 'Client-ID',
    clientSecret: 'Client-Geheimnis',
    secretHint: 'Der Anbieter zeigt es einmal. Es wird verschlüsselt gespeichert und hier nie gezeigt.',
    secretKept: 'Leer lassen, um das jetzige zu behalten.',
    domains: 'Domains',
    domainsHint:
      'Der Anbieter bürgt für Adressen in diesen Domains. Eine Domain zählt, sobald sie nachgewiesen ist.',
    defaultRole: 'Rolle neuer Mitglieder',
    roleHint: 'Diese Rolle bekommt, wer sich zum ersten Mal anmeldet.',
    statuses: { draft: 'Entwurf', active: 'aktiv', disabled: 'abgeschaltet' },
    statusHint: 'Solange sie aktiv ist, melden sich Menschen über sie an.',
    justInTime: 'Neue Personen werden Mitglieder',
    justInTimeHint: 'Sonst melden sich nur Personen an, die schon Mitglieder sind.',
    trustMfa: 'Dem zweiten Faktor des Anbieters vertrauen',
    trustMfaHint: 'Wo Ihre Organisation einen zweiten Faktor verlangt, zählt der dort gegebene.',
    enforced: 'Nur über diesen Anbieter',
    enforcedHint:
      'Vorsicht: Mitglieder mit einer Adresse dieser Domains, die sich anders angemeldet haben, verlieren sofort den Zugang. Eigentümer mit zweitem Faktor kommen weiter hinein. Nötig sind der Status aktiv und eine Person, die sich über den Anbieter angemeldet hat.',
    lastUsed: 'Zuletzt benutzt',
    never: 'nie',
    callback: 'Rückkehradresse',
    callbackAbout: 'Tragen Sie sie beim Anbieter als Weiterleitungsadresse dieses Dienstes ein.',
    notProved: 'Bisher hat sich niemand mit diesem Aussteller und diesem Client angemeldet.',
    test: 'Prüfen',
    testAbout:
      'Der Dienst fragt den Anbieter nach Metadaten und Schlüsseln. Ob Client-ID und Geheimnis stimmen, zeigt die erste Anmeldung.',
    testPassed: 'Der Anbieter antwortet, wie er soll.',
    testFailed: {
      metadata: 'Die Metadaten des Anbieters ließen sich nicht lesen.',
      keys: 'Die Schlüssel des Anbieters ließen sich nicht lesen.',
    },
  },
  es: {
    title: 'Conexiones',
    about:
      'Proveedores de identidad de su organización, como Okta o Microsoft Entra. Quien tiene una dirección de sus dominios inicia sesión allí y pasa a ser miembro.',
    create: 'Añadir una conexión',
    empty: 'Aún no hay conexiones. Verifique primero un dominio y añada después el proveedor de su empresa.',
    removal:
      'Nadie más inicia sesión a través de este proveedor. Los miembros siguen siéndolo, y las sesiones empezadas duran doce horas como máximo.',
    nameHint: 'Lo que se lee en la página de inicio de sesión, como el nombre de su empresa.',
    issuer: 'Emisor',
    issuerHint: 'La dirección del proveedor (issuer), exactamente como la muestran sus ajustes.',
    noAddress: 'Debe ser una dirección que empiece por https://.',
    clientId: 'Id de cliente',
    clientSecret: 'Secreto de cliente',
    secretHint: 'El proveedor lo muestra una vez. Se guarda cifrado y nunca se muestra aquí.',
    secretKept: 'Déjelo vacío para conservar el actual.',
    domains: 'Dominios',
    domainsHint:
      'El proveedor responde de las direcciones de estos dominios. Un dominio cuenta en cuanto está verificado.',
    defaultRole: 'Rol de los nuevos miembros',
    roleHint: 'Quien inicia sesión por primera vez recibe este rol.',
    statuses: { draft: 'borrador', active: 'activa', disabled: 'desactivada' },
    statusHint: 'Se inicia sesión a través de ella mientras está activa.',
    justInTime: 'Las personas nuevas pasan a ser miembros',
    justInTimeHint: 'De lo contrario, solo inician sesión quienes ya son miembros.',
    trustMfa: 'Confiar en el segundo factor del proveedor',
    trustMfaHint: 'Donde su organización exige un segundo factor, cuenta el que se dio allí.',
    enforced: 'Solo a través de este proveedor',
    enforcedHint:
      'Cuidado: los miembros con una dirección de estos dominios que iniciaron sesión de otra forma pierden el acceso al momento. Los propietarios con un segundo factor siguen entrando. Requiere el estado activa y que alguien haya iniciado sesión a través del proveedor.',
    lastUsed: 'Último uso',
    never: 'nunca',
    callback: 'Dirección de retorno',
    callbackAbout: 'Regístrela en el proveedor como dirección de redirección de este servicio.',
    notProved: 'Hasta ahora nadie ha iniciado sesión con este emisor y este cliente.',
    test: 'Probar',
    testAbout:
      'El servicio pide al proveedor sus metadatos y claves. Si el id y el secreto de cliente son correctos se ve en el primer inicio de sesión.',
    testPassed: 'El proveedor responde como debe.',
    testFailed: {
      metadata: 'No se han podido leer los metadatos del proveedor.',
      keys: 'No se han podido leer las claves del proveedor.',
    },
  },
  fr: {
    title: 'Connexions',
    about:
      'Fournisseurs d’identité de votre organisation, comme Okta ou Microsoft Entra. Les personnes avec une adresse de vos domaines s’y connectent et deviennent membres.',
    create: 'Ajouter une connexion',
    empty:
      'Il n’y a pas encore de connexions. Vérifiez d’abord un domaine, puis ajoutez le fournisseur de votre entreprise.',
    removal:
      'Plus personne ne se connecte par ce fournisseur. Les membres restent membres, et les sessions commencées durent douze heures au plus.',
    nameHint: 'Ce qu’on lit sur la page de connexion, comme le nom de votre entreprise.',
    issuer: 'Émetteur',
    issuerHint: 'L’adresse du fournisseur (issuer), exactement comme dans ses propres réglages.',
    noAddress: 'Ce doit être une adresse qui commence par https://.',
    clientId: 'Identifiant client',
    clientSecret: 'Secret client',
    secretHint: 'Le fournisseur le montre une fois. Il est stocké chiffré et n’est jamais montré ici.',
    secretKept: 'Laissez vide pour garder l’actuel.',
    domains: 'Domaines',
    domainsHint:
      'Le fournisseur se porte garant des adresses de ces domaines. Un domaine compte dès qu’il est vérifié.',
    defaultRole: 'Rôle des nouveaux membres',
    roleHint: 'Toute personne qui se connecte pour la première fois reçoit ce rôle.',
    statuses: { draft: 'brouillon', active: 'active', disabled: 'désactivée' },
    statusHint: 'Les personnes se connectent via cette connexion tant qu’elle est active.',
    justInTime: 'Les nouvelles personnes deviennent membres',
    justInTimeHint: 'Sinon, seules les personnes déjà membres se connectent.',
    trustMfa: 'Faire confiance au second facteur du fournisseur',
    trustMfaHint: 'Là où votre organisation exige un second facteur, celui qui y est donné compte.',
    enforced: 'Uniquement par ce fournisseur',
    enforcedHint:
      'Attention : les membres avec une adresse de ces domaines qui se sont connectés autrement perdent l’accès aussitôt. Les propriétaires avec un second facteur entrent toujours. Il faut l’état active et une personne qui s’est connectée par le fournisseur.',
    lastUsed: 'Dernière utilisation',
    never: 'jamais',
    callback: 'Adresse de retour',
    callbackAbout: 'Enregistrez-la chez le fournisseur comme adresse de redirection de ce service.',
    notProved: 'Jusqu’ici, personne ne s’est connecté avec cet émetteur et ce client.',
    test: 'Tester',
    testAbout:
      'Le service demande au fournisseur ses métadonnées et ses clés. La première connexion montre si l’identifiant et le secret sont justes.',
    testPassed: 'Le fournisseur répond comme il faut.',
    testFailed: {
      metadata: 'Les métadonnées du fournisseur n’ont pas pu être lues.',
      keys: 'Les clés du fournisseur n’ont pas pu être lues.',
    },
  },
};
