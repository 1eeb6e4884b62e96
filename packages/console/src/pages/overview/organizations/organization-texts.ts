import type { Texts } from '../../../i18n/language.ts';

interface OrganizationTexts {
  readonly about: string;
  readonly members: { readonly one: string; readonly other: string };
  readonly people: string;
  readonly mfa: string;
  readonly mfaHint: string;
  readonly color: string;
  readonly branding: string;
  readonly projects: string;
  readonly noProjects: string;
  readonly newProject: string;
  readonly removal: string;
}

export const organizationTexts: Texts<OrganizationTexts> = {
  en: {
    about: 'An organization. Its members share its projects.',
    people: 'People',
    members: { one: '# member', other: '# members' },
    mfa: 'Second factor for sensitive changes',
    mfaHint: 'Who changes rights, keys or members here then needs a session with a second factor. You too.',
    color: 'Colour of invitations',
    branding: 'Logo and colour',
    projects: 'Projects',
    noProjects: 'There are no projects yet. A project holds the users, roles and keys of a product.',
    newProject: 'Go to the projects',
    removal:
      'Its projects, members, roles and keys are deleted with it. Every key stops working. This cannot be undone here.',
  },
  de: {
    about: 'Eine Organisation. Ihre Mitglieder teilen sich ihre Projekte.',
    people: 'Menschen',
    members: { one: '# Mitglied', other: '# Mitglieder' },
    mfa: 'Zweiter Faktor für heikle Änderungen',
    mfaHint:
      'Wer hier Rechte, Schlüssel oder Mitglieder ändert, braucht dann eine Sitzung mit zweitem Faktor. Auch Sie.',
    color: 'Farbe der Einladungen',
    branding: 'Logo und Farbe',
    projects: 'Projekte',
    noProjects:
      'Es gibt noch keine Projekte. Ein Projekt enthält die Personen, Rollen und Schlüssel eines Produkts.',
    newProject: 'Zu den Projekten',
    removal:
      'Ihre Projekte, Mitglieder, Rollen und Schlüssel werden mit ihr gelöscht. Kein Schlüssel gilt mehr. Das lässt sich hier nicht rückgängig machen.',
  },
  es: {
    about: 'Una organización. Sus miembros comparten sus proyectos.',
    people: 'Personas',
    members: { one: '# miembro', other: '# miembros' },
    mfa: 'Segundo factor para cambios delicados',
    mfaHint:
      'Quien cambie aquí derechos, claves o miembros necesita entonces una sesión con segundo factor. Usted también.',
    color: 'Color de las invitaciones',
    branding: 'Logotipo y color',
    projects: 'Proyectos',
    noProjects: 'Aún no hay proyectos. Un proyecto contiene los usuarios, roles y claves de un producto.',
    newProject: 'Ir a los proyectos',
    removal:
      'Con ella se eliminan sus proyectos, miembros, roles y claves. Ninguna clave sigue valiendo. Aquí no se puede deshacer.',
  },
  fr: {
    about: 'Une organisation. Ses membres partagent ses projets.',
    people: 'Personnes',
    members: { one: '# membre', other: '# membres' },
    mfa: 'Second facteur pour les changements sensibles',
    mfaHint:
      'Quiconque change ici des droits, des clés ou des membres a alors besoin d’une session avec second facteur. Vous aussi.',
    color: 'Couleur des invitations',
    branding: 'Logo et couleur',
    projects: 'Projets',
    noProjects:
      'Il n’y a pas encore de projets. Un projet contient les utilisateurs, les rôles et les clés d’un produit.',
    newProject: 'Aller aux projets',
    removal:
      'Ses projets, membres, rôles et clés sont supprimés avec elle. Plus aucune clé ne fonctionne. Ici, on ne peut pas revenir en arrière.',
  },
};
