import type { Scope } from '@doorward/node';
import type { Row } from '../output/table.ts';
import { withDryRun, defineNoun, withoutDryRun, type Noun } from './noun.ts';

/*
 * The nouns that can be listed, shown and changed. noun-commands.ts derives their commands, and their fields follow
 * from the operations that create and update them.
 */

const id = { name: 'id', kind: 'id' } as const;
const created = { name: 'created', of: 'createdAt', kind: 'time' } as const;
const member = (part: string, name: string) => (row: Row) => (row[part] as Row | undefined)?.[name];
const joined = (first: unknown, second: unknown): string => `${String(first)}:${String(second)}`;

/**
 * Returns the OpenID Connect issuer of a project, which clients need for their configuration; null for other scopes.
 */
function issuerOf({ tenant, id }: Scope, url: string): string | null {
  const [owner = '', project = ''] = id.split(':');
  if (tenant !== 'accountProject' && tenant !== 'organizationProject') return null;
  return `${url}/${tenant === 'accountProject' ? 'acc' : 'org'}/${owner}/prj/${project}`;
}

export const keys = defineNoun({
  word: 'keys',
  singular: 'API key',
  summary: 'API keys',
  list: 'apiKeys',
  get: 'apiKey',
  delete: withoutDryRun('deleteApiKey'),
  columns: [
    id,
    { name: 'name' },
    { name: 'status' },
    { name: 'client id', of: 'clientId', kind: 'id' },
    { name: 'expires', of: 'expiresAt', kind: 'time' },
    { name: 'last used', of: 'lastUsedAt', kind: 'time' },
    { name: 'role', of: (row) => member('role', 'name')(row) ?? row['roleId'] },
  ],
  namedBy: 'name',
  relations: ['role'],
});

export const users = defineNoun({
  word: 'users',
  singular: 'user',
  summary: 'Users of the scope',
  list: 'users',
  get: 'user',
  create: withDryRun('createUser'),
  delete: withDryRun('deleteUser'),
  deleteWord: 'remove',
  columns: [
    id,
    { name: 'name' },
    { name: 'address', of: 'email' },
    { name: 'kind' },
    { name: 'status' },
    created,
  ],
  namedBy: 'email',
});

export const webhooks = defineNoun({
  word: 'webhooks',
  singular: 'webhook',
  summary: 'Webhooks of a project',
  list: 'webhookSubscriptions',
  get: 'webhookSubscription',
  create: withoutDryRun('createWebhookSubscription'),
  update: withoutDryRun('updateWebhookSubscription'),
  delete: withoutDryRun('deleteWebhookSubscription'),
  columns: [
    id,
    { name: 'name' },
    { name: 'url' },
    { name: 'active' },
    { name: 'events', of: 'eventTypes' },
    { name: 'delivered', of: 'lastDeliveredAt', kind: 'time' },
  ],
  secret: 'secret',
});

const organizations = defineNoun({
  word: 'orgs',
  singular: 'organization',
  summary: 'Organizations',
  list: 'organizations',
  get: 'organization',
  create: withoutDryRun('createOrganization'),
  update: withoutDryRun('updateOrganization'),
  delete: withoutDryRun('deleteOrganization'),
  columns: [id, { name: 'name' }, { name: 'slug' }, created],
  namedBy: 'slug',
  isLarge: true,
  ownScope: 'organization',
});

const projects = defineNoun({
  word: 'projects',
  singular: 'project',
  summary: 'Projects of an account or organization',
  list: 'projects',
  get: 'project',
  create: withoutDryRun('createProject'),
  update: withoutDryRun('updateProject'),
  delete: withoutDryRun('deleteProject'),
  columns: [
    id,
    { name: 'name' },
    { name: 'slug' },
    {
      name: 'scope',
      of: (row) => joined(member('scope', 'tenant')(row), member('scope', 'id')(row)),
      kind: 'id',
    },
    created,
  ],
  namedBy: 'slug',
  isLarge: true,
});

const members = defineNoun({
  word: 'members',
  singular: 'member',
  summary: 'Members of an organization',
  list: 'organizationMembers',
  update: withDryRun('updateOrganizationMember'),
  delete: withDryRun('removeOrganizationMember'),
  columns: [
    { name: 'user', of: member('user', 'id'), kind: 'id' },
    { name: 'name', of: member('user', 'name') },
    { name: 'address', of: member('user', 'email') },
    { name: 'role', of: member('role', 'name') },
    { name: 'joined', of: 'joinedAt', kind: 'time' },
  ],
  namedBy: member('user', 'email'),
  idMember: 'userId',
  idOf: (row) => String(member('user', 'id')(row)),
});

export const domains = defineNoun({
  word: 'domains',
  singular: 'domain',
  summary: 'Domains of mail addresses of an organization',
  list: 'organizationDomains',
  create: withoutDryRun('createOrganizationDomain'),
  delete: withoutDryRun('deleteOrganizationDomain'),
  columns: [
    id,
    { name: 'domain' },
    { name: 'status' },
    { name: 'record', of: member('record', 'name') },
    { name: 'text', of: member('record', 'value') },
  ],
  namedBy: 'domain',
});

export const connections = defineNoun({
  word: 'connections',
  singular: 'connection',
  summary: 'Identity providers of an organization',
  list: 'organizationConnections',
  get: 'organizationConnection',
  create: withoutDryRun('createOrganizationConnection'),
  update: withoutDryRun('updateOrganizationConnection'),
  delete: withoutDryRun('deleteOrganizationConnection'),
  columns: [
    id,
    { name: 'name' },
    { name: 'status' },
    { name: 'issuer' },
    { name: 'enforced' },
    { name: 'callback', of: 'callbackPath', kind: 'id' },
    { name: 'last used', of: 'lastUsedAt', kind: 'time' },
  ],
  namedBy: 'name',
  asks: { member: 'clientSecret', label: 'Client secret' },
});

const roles = defineNoun({
  word: 'roles',
  singular: 'role',
  summary: 'Roles',
  list: 'roles',
  get: 'role',
  create: withDryRun('createRole'),
  update: withDryRun('updateRole'),
  delete: withDryRun('deleteRole'),
  columns: [id, { name: 'name' }, { name: 'built-in', of: 'isSystem' }, { name: 'description' }],
  namedBy: 'name',
});

const groups = defineNoun({
  word: 'groups',
  singular: 'group',
  summary: 'Groups of permissions',
  list: 'groups',
  get: 'group',
  create: withDryRun('createGroup'),
  update: withDryRun('updateGroup'),
  delete: withDryRun('deleteGroup'),
  columns: [id, { name: 'name' }, { name: 'built-in', of: 'isSystem' }, { name: 'description' }],
  namedBy: 'name',
});

const permissions = defineNoun({
  word: 'permissions',
  singular: 'permission',
  summary: 'Permissions',
  list: 'permissions',
  get: 'permission',
  create: withDryRun('createPermission'),
  update: withDryRun('updatePermission'),
  delete: withDryRun('deletePermission'),
  columns: [
    id,
    { name: 'permission', of: (row) => joined(member('resource', 'slug')(row), row['action']) },
    { name: 'name' },
    { name: 'condition' },
  ],
  namedBy: 'name',
});

const resources = defineNoun({
  word: 'resources',
  singular: 'resource',
  summary: 'Resources of a project, with their actions',
  list: 'resources',
  get: 'resource',
  create: withoutDryRun('createResource'),
  update: withoutDryRun('updateResource'),
  delete: withoutDryRun('deleteResource'),
  columns: [id, { name: 'slug' }, { name: 'name' }, { name: 'actions' }, { name: 'active', of: 'isActive' }],
  namedBy: 'slug',
});

const apps = defineNoun({
  word: 'apps',
  singular: 'app',
  summary: 'Apps of a project, to which people sign in',
  list: 'projectApps',
  get: 'projectApp',
  create: withoutDryRun('createProjectApp'),
  update: withoutDryRun('updateProjectApp'),
  delete: withoutDryRun('deleteProjectApp'),
  columns: [
    id,
    { name: 'name' },
    { name: 'client id', of: 'clientId', kind: 'id' },
    { name: 'confidential' },
    created,
  ],
  detailColumns: [{ name: 'issuer', kind: 'id' }],
  derived: (scope, url) => ({ issuer: issuerOf(scope, url) }),
  namedBy: 'name',
  secret: 'clientSecret',
});

export const allNouns: readonly Noun[] = [
  ...[
    keys,
    users,
    organizations,
    domains,
    connections,
    projects,
    members,
    roles,
    groups,
    permissions,
    resources,
    apps,
    webhooks,
  ],
];
