import type { EntityTexts } from '../../entities/declarations/entity.ts';
import type { Texts } from '../../i18n/language.ts';

export interface AllUsersTexts extends EntityTexts {
  readonly kind: string;
  readonly kinds: Readonly<Record<'person' | 'service', string>>;
  readonly statuses: Readonly<Record<'active' | 'disabled' | 'suspended', string>>;
  readonly methods: string;
  readonly factors: string;
  readonly factorTypes: Readonly<Record<'totp', string>>;
  readonly sessions: string;
  readonly memberships: string;
  readonly projects: string;
  readonly keys: string;
  readonly isOperator: string;
}

export const userTexts: Texts<AllUsersTexts> = {
  en: {
    title: 'All users',
    about: 'Everybody of this installation. Searches and views are written into its audit log.',
    create: '',
    empty: 'There are no users yet.',
    removal: '',
    kind: 'Kind',
    kinds: { person: 'person', service: 'service user' },
    statuses: { active: 'active', disabled: 'disabled', suspended: 'suspended' },
    methods: 'Sign-in methods',
    factors: 'Second factors',
    factorTypes: { totp: 'authenticator app' },
    sessions: 'Open sessions',
    memberships: 'Organizations',
    projects: 'Projects',
    keys: 'API keys',
    isOperator: 'Operator',
  },
  de: {
    title: 'Alle Personen',
    about: 'Alle in dieser Installation. Suchen und Ansichten stehen in ihrem Protokoll.',
    create: '',
    empty: 'Noch gibt es niemanden.',
    removal: '',
    kind: 'Art',
    kinds: { person: 'Person', service: 'Dienstnutzer' },
    statuses: { active: 'aktiv', disabled: 'gesperrt', suspended: 'vom Betreiber gesperrt' },
    methods: 'Anmeldewege',
    factors: 'Zweite Faktoren',
    factorTypes: { totp: 'Authenticator-App' },
    sessions: 'Offene Sitzungen',
    memberships: 'Organisationen',
    projects: 'Projekte',
    keys: 'API-Schlüssel',
    isOperator: 'Betreiber',
  },
  es: {
    title: 'Todos los usuarios',
    about:
      'Todas las personas de esta instalación. Las búsquedas y vistas quedan en su registro de auditoría.',
    create: '',
    empty: 'Aún no hay usuarios.',
    removal: '',
    kind: 'Tipo',
    kinds: { person: 'persona', service: 'usuario de servicio' },
    statuses: { active: 'activo', disabled: 'desactivado', suspended: 'suspendido' },
    methods: 'Métodos de inicio de sesión',
    factors: 'Segundos factores',
    factorTypes: { totp: 'aplicación de autenticación' },
    sessions: 'Sesiones abiertas',
    memberships: 'Organizaciones',
    projects: 'Proyectos',
    keys: 'Claves de API',
    isOperator: 'Operador',
  },
  fr: {
    title: 'Tous les utilisateurs',
    about:
      'Tous ceux de cette installation. Les recherches et les consultations sont inscrites à son journal d’audit.',
    create: '',
    empty: 'Il n’y a pas encore d’utilisateurs.',
    removal: '',
    kind: 'Genre',
    kinds: { person: 'personne', service: 'utilisateur de service' },
    statuses: { active: 'actif', disabled: 'désactivé', suspended: 'suspendu' },
    methods: 'Moyens de connexion',
    factors: 'Seconds facteurs',
    factorTypes: { totp: 'application d’authentification' },
    sessions: 'Sessions ouvertes',
    memberships: 'Organisations',
    projects: 'Projets',
    keys: 'Clés d’API',
    isOperator: 'Opérateur',
  },
};

export interface TenantListTexts extends EntityTexts {
  readonly members: string;
  readonly users: string;
  readonly projects: string;
  readonly organizations: string;
  readonly keys: string;
  readonly apps: string;
  readonly owner: string;
  readonly type: string;
}

const sizes = {
  en: {
    members: 'Members',
    users: 'Users',
    projects: 'Projects',
    organizations: 'Organizations',
    keys: 'API keys',
    apps: 'Apps',
    owner: 'Id of the owner',
    type: 'Kind',
  },
  de: {
    members: 'Mitglieder',
    users: 'Personen',
    projects: 'Projekte',
    organizations: 'Organisationen',
    keys: 'API-Schlüssel',
    apps: 'Apps',
    owner: 'ID des Eigentümers',
    type: 'Art',
  },
  es: {
    members: 'Miembros',
    users: 'Usuarios',
    projects: 'Proyectos',
    organizations: 'Organizaciones',
    keys: 'Claves de API',
    apps: 'Aplicaciones',
    owner: 'Id del propietario',
    type: 'Tipo',
  },
  fr: {
    members: 'Membres',
    users: 'Utilisateurs',
    projects: 'Projets',
    organizations: 'Organisations',
    keys: 'Clés d’API',
    apps: 'Applications',
    owner: 'Id du propriétaire',
    type: 'Genre',
  },
};

export const listOf = (
  heads: Readonly<Record<keyof typeof sizes, Pick<EntityTexts, 'title' | 'about' | 'empty'>>>,
): Texts<TenantListTexts> => {
  const textsIn = (language: keyof typeof sizes): TenantListTexts => ({
    ...sizes[language],
    ...heads[language],
    create: '',
    removal: '',
  });
  return { en: textsIn('en'), de: textsIn('de'), es: textsIn('es'), fr: textsIn('fr') };
};

export const projectTexts = listOf({
  en: {
    title: 'All projects',
    about: 'What they are and how large, not what they contain.',
    empty: 'There are no projects yet.',
  },
  de: {
    title: 'Alle Projekte',
    about: 'Was sie sind und wie groß, nicht was sie enthalten.',
    empty: 'Es gibt noch keine Projekte.',
  },
  es: {
    title: 'Todos los proyectos',
    about: 'Qué son y qué tamaño tienen, no lo que contienen.',
    empty: 'Aún no hay proyectos.',
  },
  fr: {
    title: 'Tous les projets',
    about: 'Ce qu’ils sont et leur taille, non ce qu’ils contiennent.',
    empty: 'Il n’y a pas encore de projets.',
  },
});

export const accountTexts = listOf({
  en: {
    title: 'All accounts',
    about: 'Every organization and project is in an account; each account belongs to a user.',
    empty: 'There are no accounts yet.',
  },
  de: {
    title: 'Alle Konten',
    about: 'Jede Organisation und jedes Projekt gehört zu einem Konto; jedes Konto gehört einer Person.',
    empty: 'Es gibt noch keine Konten.',
  },
  es: {
    title: 'Todas las cuentas',
    about: 'Cada organización y cada proyecto pertenece a una cuenta; cada cuenta, a un usuario.',
    empty: 'Aún no hay cuentas.',
  },
  fr: {
    title: 'Tous les comptes',
    about: 'Chaque organisation et chaque projet appartient à un compte ; chaque compte, à un utilisateur.',
    empty: 'Il n’y a pas encore de comptes.',
  },
});
