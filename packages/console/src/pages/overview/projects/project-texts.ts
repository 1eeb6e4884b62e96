import type { Texts } from '../../../i18n/language.ts';

interface StepTexts {
  readonly name: string;
  readonly about: string;
}

interface ProjectTexts {
  readonly noDescription: string;
  readonly scope: string;
  readonly scopeHint: string;
  readonly owner: string;
  readonly ownerKinds: Readonly<Record<'account' | 'organization', string>>;
  readonly user: StepTexts;
  readonly role: StepTexts;
  readonly key: StepTexts;
  readonly check: StepTexts;
  readonly latest: string;
  readonly allEntries: string;
  readonly when: string;
  readonly who: string;
  readonly what: string;
  readonly removal: string;
}

export const projectTexts: Texts<ProjectTexts> = {
  en: {
    noDescription: 'A project.',
    scope: 'Scope',
    scopeHint: 'Requests and the command line name the project with it.',
    owner: 'Belongs to',
    ownerKinds: { account: 'an account', organization: 'an organization' },
    user: { name: 'Add a user', about: 'Somebody whose rights your product asks about.' },
    role: { name: 'Create a role', about: 'What people may do, with groups of permissions.' },
    key: { name: 'Create an API key', about: 'With it, your product signs in to this project.' },
    check: {
      name: 'Check a permission',
      about: 'Your product trades its key for a token and asks. You can ask here first.',
    },
    latest: 'Latest changes',
    allEntries: 'The whole audit log',
    when: 'Time',
    who: 'By',
    what: 'Operation',
    removal:
      'Its users lose their roles here; its roles, resources and keys are deleted with it. Every key stops working. This cannot be undone here.',
  },
  de: {
    noDescription: 'Ein Projekt.',
    scope: 'Bereich',
    scopeHint: 'So nennen Anfragen und die Befehlszeile das Projekt.',
    owner: 'Gehört zu',
    ownerKinds: { account: 'einem Konto', organization: 'einer Organisation' },
    user: { name: 'Eine Person hinzufügen', about: 'Jemand, nach dessen Rechten Ihr Produkt fragt.' },
    role: { name: 'Eine Rolle erstellen', about: 'Was Menschen dürfen, mit Gruppen von Berechtigungen.' },
    key: {
      name: 'Einen API-Schlüssel erstellen',
      about: 'Damit meldet sich Ihr Produkt bei diesem Projekt an.',
    },
    check: {
      name: 'Eine Berechtigung prüfen',
      about:
        'Ihr Produkt tauscht seinen Schlüssel gegen ein Token und fragt. Hier können Sie zuerst selbst fragen.',
    },
    latest: 'Letzte Änderungen',
    allEntries: 'Das ganze Protokoll',
    when: 'Zeit',
    who: 'Von',
    what: 'Vorgang',
    removal:
      'Seine Personen verlieren ihre Rollen hier; Rollen, Ressourcen und Schlüssel werden mit ihm gelöscht. Kein Schlüssel gilt mehr. Das lässt sich hier nicht rückgängig machen.',
  },
  es: {
    noDescription: 'Un proyecto.',
    scope: 'Ámbito',
    scopeHint: 'Así nombran el proyecto las solicitudes y la línea de órdenes.',
    owner: 'Pertenece a',
    ownerKinds: { account: 'una cuenta', organization: 'una organización' },
    user: { name: 'Añadir un usuario', about: 'Alguien por cuyos derechos pregunta su producto.' },
    role: { name: 'Crear un rol', about: 'Lo que las personas pueden hacer, con grupos de permisos.' },
    key: { name: 'Crear una clave de API', about: 'Con ella su producto entra en este proyecto.' },
    check: {
      name: 'Comprobar un permiso',
      about: 'Su producto cambia su clave por un token y pregunta. Aquí puede preguntar usted primero.',
    },
    latest: 'Últimos cambios',
    allEntries: 'Todo el registro',
    when: 'Hora',
    who: 'De',
    what: 'Operación',
    removal:
      'Sus usuarios pierden sus roles aquí; los roles, recursos y claves se eliminan con él. Ninguna clave sigue valiendo. Aquí no se puede deshacer.',
  },
  fr: {
    noDescription: 'Un projet.',
    scope: 'Périmètre',
    scopeHint: 'C’est ainsi que les requêtes et la ligne de commande désignent le projet.',
    owner: 'Appartient à',
    ownerKinds: { account: 'un compte', organization: 'une organisation' },
    user: { name: 'Ajouter un utilisateur', about: 'Quelqu’un dont votre produit demande les droits.' },
    role: {
      name: 'Créer un rôle',
      about: 'Ce que les personnes peuvent faire, avec des groupes de permissions.',
    },
    key: { name: 'Créer une clé d’API', about: 'Avec elle, votre produit se connecte à ce projet.' },
    check: {
      name: 'Vérifier une permission',
      about: 'Votre produit échange sa clé contre un jeton et demande. Vous pouvez d’abord demander ici.',
    },
    latest: 'Derniers changements',
    allEntries: 'Tout le journal',
    when: 'Heure',
    who: 'Par',
    what: 'Opération',
    removal:
      'Ses utilisateurs perdent leurs rôles ici ; ses rôles, ressources et clés sont supprimés avec lui. Plus aucune clé ne fonctionne. Ici, on ne peut pas revenir en arrière.',
  },
};
