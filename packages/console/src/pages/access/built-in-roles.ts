import type { Texts } from '../../i18n/language.ts';

/** Descriptions of the built-in roles by name, because the service has none. */
export const builtInRoles: Texts<Readonly<Record<string, string>>> = {
  en: {
    'Account Owner': 'Everything in the account and its projects; makes organizations.',
    'Account Onboarding':
      'For a program that sets up customers: makes organizations and projects in the account.',
    'Organization Owner': 'Everything, deleting the organization included. One owner always stays.',
    'Organization Admin': 'Everything but deleting the organization: members, roles, keys, projects.',
    'Organization Developer': 'Builds: projects, roles, keys, apps and webhooks. Changes no members.',
    'Organization Viewer': 'Sees members, projects and roles, and changes nothing.',
    'Project Admin': 'Everything in this project but deleting it: users, roles, keys, apps, webhooks.',
    'Project Viewer': 'Sees users, roles and keys of this project, and changes nothing.',
  },
  de: {
    'Account Owner': 'Alles im Konto und in seinen Projekten; legt Organisationen an.',
    'Account Onboarding':
      'Für ein Programm, das Kunden einrichtet: legt im Konto Organisationen und Projekte an.',
    'Organization Owner': 'Alles, auch die Organisation löschen. Eine Person mit dieser Rolle bleibt immer.',
    'Organization Admin':
      'Alles außer dem Löschen der Organisation: Mitglieder, Rollen, Schlüssel, Projekte.',
    'Organization Developer':
      'Entwickelt: Projekte, Rollen, Schlüssel, Apps und Webhooks. Ändert keine Mitglieder.',
    'Organization Viewer': 'Sieht Mitglieder, Projekte und Rollen und ändert nichts.',
    'Project Admin':
      'Alles in diesem Projekt außer es zu löschen: Personen, Rollen, Schlüssel, Apps, Webhooks.',
    'Project Viewer': 'Sieht Personen, Rollen und Schlüssel dieses Projekts und ändert nichts.',
  },
  es: {
    'Account Owner': 'Todo en la cuenta y en sus proyectos; crea organizaciones.',
    'Account Onboarding':
      'Para un programa que da de alta a clientes: crea organizaciones y proyectos en la cuenta.',
    'Organization Owner': 'Todo, incluso eliminar la organización. Siempre queda alguien con este rol.',
    'Organization Admin': 'Todo salvo eliminar la organización: miembros, roles, claves, proyectos.',
    'Organization Developer':
      'Desarrolla: proyectos, roles, claves, aplicaciones y webhooks. No cambia miembros.',
    'Organization Viewer': 'Ve los miembros, proyectos y roles, y no cambia nada.',
    'Project Admin':
      'Todo en este proyecto salvo eliminarlo: usuarios, roles, claves, aplicaciones, webhooks.',
    'Project Viewer': 'Ve los usuarios, roles y claves de este proyecto, y no cambia nada.',
  },
  fr: {
    'Account Owner': 'Tout dans le compte et ses projets ; crée des organisations.',
    'Account Onboarding':
      'Pour un programme qui installe des clients : crée des organisations et des projets dans le compte.',
    'Organization Owner':
      'Tout, y compris supprimer l’organisation. Il reste toujours quelqu’un avec ce rôle.',
    'Organization Admin': 'Tout sauf supprimer l’organisation : membres, rôles, clés, projets.',
    'Organization Developer':
      'Développe : projets, rôles, clés, applications et webhooks. Ne change pas les membres.',
    'Organization Viewer': 'Voit les membres, projets et rôles, et ne change rien.',
    'Project Admin':
      'Tout dans ce projet sauf le supprimer : utilisateurs, rôles, clés, applications, webhooks.',
    'Project Viewer': 'Voit les utilisateurs, rôles et clés de ce projet, et ne change rien.',
  },
};
