import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import type { Language, Texts } from '../i18n/language.ts';
import type { Tenant } from '../scopes/scope.ts';

/** The pages of a scope, in the order of the navigation. Each is a chunk of its own. */
export interface Page {
  /** Its part of the address. */
  readonly name: string;
  readonly label: Readonly<Record<Language, string>>;
  readonly tenants: readonly Tenant[];
  /** The permissions without which it is not offered; none: everybody sees it. */
  readonly needs: readonly string[];
  /** After `g`, the key that opens it. */
  readonly key?: string;
  readonly Component: LazyExoticComponent<ComponentType>;
}

const projects: readonly Tenant[] = ['accountProject', 'organizationProject'];
const organizations: readonly Tenant[] = ['organization'];
const withRoles: readonly Tenant[] = [...organizations, ...projects];

const page = (
  name: string,
  tenants: readonly Tenant[],
  needs: string | readonly string[] | null,
  label: Texts<string>,
  load: () => Promise<{ readonly default: ComponentType }>,
  key?: string,
): Page => ({
  name,
  tenants,
  needs: needs === null ? [] : [needs].flat(),
  label,
  Component: lazy(load),
  ...(key === undefined ? {} : { key }),
});

const pages: readonly Page[] = [
  page(
    'overview',
    ['account', 'organization', 'accountProject', 'organizationProject', 'installation'],
    null,
    { en: 'Overview', de: 'Überblick', es: 'Resumen', fr: 'Vue d’ensemble' },
    () => import('./overview/overview.tsx'),
    'o',
  ),
  page(
    'users',
    ['installation'],
    'InstallationUser:Query',
    { en: 'Users', de: 'Personen', es: 'Usuarios', fr: 'Utilisateurs' },
    () => import('./installation/users.tsx'),
    'u',
  ),
  page(
    'organizations',
    ['installation'],
    'InstallationOrganization:Query',
    { en: 'Organizations', de: 'Organisationen', es: 'Organizaciones', fr: 'Organisations' },
    () => import('./installation/organizations.tsx'),
    'z',
  ),
  page(
    'projects',
    ['installation'],
    'InstallationProject:Query',
    { en: 'Projects', de: 'Projekte', es: 'Proyectos', fr: 'Projets' },
    () => import('./installation/projects.tsx'),
    'p',
  ),
  page(
    'accounts',
    ['installation'],
    'InstallationAccount:Query',
    { en: 'Accounts', de: 'Konten', es: 'Cuentas', fr: 'Comptes' },
    () => import('./installation/accounts.tsx'),
    'c',
  ),
  page(
    'operators',
    ['installation'],
    'Operator:Query',
    { en: 'Operators', de: 'Betreiber', es: 'Operadores', fr: 'Opérateurs' },
    () => import('./installation/operators.tsx'),
    'b',
  ),
  page(
    'audit',
    ['installation'],
    'InstallationAudit:Query',
    { en: 'Audit log', de: 'Protokoll', es: 'Registro de auditoría', fr: 'Journal d’audit' },
    () => import('./installation/audit.tsx'),
    'l',
  ),
  page(
    'organizations',
    ['account'],
    'Organization:Query',
    { en: 'Organizations', de: 'Organisationen', es: 'Organizaciones', fr: 'Organisations' },
    () => import('./tenants/organizations.tsx'),
    'z',
  ),
  page(
    'projects',
    ['account', 'organization'],
    'Project:Query',
    { en: 'Projects', de: 'Projekte', es: 'Proyectos', fr: 'Projets' },
    () => import('./tenants/projects.tsx'),
    'p',
  ),
  page(
    'granted-projects',
    organizations,
    'ProjectGrant:Query',
    {
      en: 'Projects of others',
      de: 'Fremde Projekte',
      es: 'Proyectos de otros',
      fr: 'Projets d’autres',
    },
    () => import('./grants/granted-projects.tsx'),
    'f',
  ),
  page(
    'members',
    organizations,
    'OrganizationMember:Query',
    { en: 'Members', de: 'Mitglieder', es: 'Miembros', fr: 'Membres' },
    () => import('./tenants/members.tsx'),
    'm',
  ),
  page(
    'invitations',
    organizations,
    'OrganizationInvitation:Query',
    { en: 'Invitations', de: 'Einladungen', es: 'Invitaciones', fr: 'Invitations' },
    () => import('./tenants/invitations.tsx'),
    'i',
  ),
  page(
    'domains',
    organizations,
    'OrganizationDomain:Query',
    { en: 'Domains', de: 'Domains', es: 'Dominios', fr: 'Domaines' },
    () => import('./tenants/domains.tsx'),
    'd',
  ),
  page(
    'connections',
    organizations,
    'OrganizationConnection:Query',
    { en: 'Connections', de: 'Verbindungen', es: 'Conexiones', fr: 'Connexions' },
    () => import('./tenants/connections.tsx'),
    'x',
  ),
  page(
    'service-users',
    ['account', 'organization'],
    'User:Query',
    {
      en: 'Service users',
      de: 'Dienstnutzer',
      es: 'Usuarios de servicio',
      fr: 'Utilisateurs de service',
    },
    () => import('./machines/machines.tsx'),
    'n',
  ),
  page(
    'users',
    projects,
    'User:Query',
    { en: 'Users', de: 'Personen', es: 'Usuarios', fr: 'Utilisateurs' },
    () => import('./users/users.tsx'),
    'u',
  ),
  page(
    'customers',
    projects,
    'ProjectGrant:Query',
    { en: 'Customers', de: 'Kunden', es: 'Clientes', fr: 'Clients' },
    () => import('./grants/customers.tsx'),
    'd',
  ),
  page(
    'roles',
    withRoles,
    'Role:Query',
    { en: 'Roles', de: 'Rollen', es: 'Roles', fr: 'Rôles' },
    () => import('./access/roles.tsx'),
    'r',
  ),
  page(
    'groups',
    withRoles,
    'Group:Query',
    { en: 'Groups', de: 'Gruppen', es: 'Grupos', fr: 'Groupes' },
    () => import('./access/groups.tsx'),
    'g',
  ),
  page(
    'permissions',
    withRoles,
    'Permission:Query',
    { en: 'Permissions', de: 'Berechtigungen', es: 'Permisos', fr: 'Permissions' },
    () => import('./access/permissions.tsx'),
    'b',
  ),
  page(
    'resources',
    withRoles,
    'Resource:Query',
    { en: 'Resources', de: 'Ressourcen', es: 'Recursos', fr: 'Ressources' },
    () => import('./access/resources.tsx'),
    's',
  ),
  page(
    'tags',
    withRoles,
    'Tag:Query',
    { en: 'Tags', de: 'Tags', es: 'Etiquetas', fr: 'Étiquettes' },
    () => import('./access/tags.tsx'),
    't',
  ),
  page(
    'policy',
    projects,
    'Policy:Query',
    { en: 'Policy', de: 'Richtlinie', es: 'Política', fr: 'Politique' },
    () => import('./policy/policy.tsx'),
    'j',
  ),
  page(
    'why',
    ['organization', 'accountProject', 'organizationProject'],
    'Authorization:Explain',
    { en: 'Why?', de: 'Warum?', es: '¿Por qué?', fr: 'Pourquoi ?' },
    () => import('./why/why.tsx'),
    'w',
  ),
  page(
    'who-can',
    withRoles,
    ['Authorization:Check', 'User:Query'],
    { en: 'Who can?', de: 'Wer darf?', es: '¿Quién puede?', fr: 'Qui peut ?' },
    () => import('./subjects/who-can.tsx'),
    'c',
  ),
  page(
    'may-do',
    withRoles,
    'Authorization:Check',
    {
      en: 'What they may do',
      de: 'Was jemand darf',
      es: 'Qué puede hacer',
      fr: 'Ce qu’elle peut faire',
    },
    () => import('./subjects/may-do.tsx'),
    'v',
  ),
  page(
    'api-keys',
    ['account', ...withRoles],
    'ApiKey:Query',
    { en: 'API keys', de: 'API-Schlüssel', es: 'Claves de API', fr: 'Clés d’API' },
    () => import('./keys/api-keys.tsx'),
    'k',
  ),
  page(
    'apps',
    projects,
    'ProjectApp:Query',
    { en: 'Apps', de: 'Apps', es: 'Aplicaciones', fr: 'Applications' },
    () => import('./keys/apps.tsx'),
    'a',
  ),
  page(
    'webhooks',
    projects,
    'WebhookSubscription:Query',
    { en: 'Webhooks', de: 'Webhooks', es: 'Webhooks', fr: 'Webhooks' },
    () => import('./keys/webhooks.tsx'),
    'h',
  ),
  page(
    'signing-keys',
    projects,
    'SigningKey:Query',
    { en: 'Signing keys', de: 'Signaturschlüssel', es: 'Claves de firma', fr: 'Clés de signature' },
    () => import('./keys/signing-keys.tsx'),
    'y',
  ),
  page(
    'audit',
    ['account', 'organization', 'accountProject', 'organizationProject'],
    'AuditLog:Query',
    { en: 'Audit log', de: 'Protokoll', es: 'Registro de auditoría', fr: 'Journal d’audit' },
    () => import('./history/audit.tsx'),
    'l',
  ),
  page(
    'events',
    ['account', 'organization', 'accountProject', 'organizationProject'],
    'Event:Query',
    { en: 'Events', de: 'Ereignisse', es: 'Eventos', fr: 'Événements' },
    () => import('./history/events.tsx'),
    'e',
  ),
];

export const pagesOf = (tenant: Tenant): readonly Page[] =>
  pages.filter(({ tenants }) => tenants.includes(tenant));
