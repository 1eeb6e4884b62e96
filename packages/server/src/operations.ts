import type { NamedOperation, Operation } from './kernel/operation.ts';
import * as apiKeys from './machines/api-keys/operations.ts';
import * as audit from './tenants/audit-log/operations.ts';
import * as auth from './sign-in/auth/operations.ts';
import * as firstUser from './sign-in/auth/first-user-operations.ts';
import * as federated from './sign-in/auth/federated-operations.ts';
import * as authorization from './rights/authorization/operations.ts';
import * as authzen from './rights/authorization/authzen/operations.ts';
import * as authzenMetadata from './rights/authorization/authzen/metadata-operations.ts';
import * as authzenSearch from './rights/authorization/authzen/search-operations.ts';
import * as forwardAuth from './rights/authorization/forward-auth.ts';
import * as mine from './rights/authorization/my-operations.ts';
import * as subjects from './rights/authorization/subject-operations.ts';
import * as deviceSignIn from './oauth/devices/operations.ts';
import * as events from './webhooks/feed/operations.ts';
import * as installation from './operators/installation/operations.ts';
import * as installationTenants from './operators/installation/tenant-operations.ts';
import * as installationUsers from './operators/installation/user-operations.ts';
import * as impersonation from './operators/installation/impersonation-operations.ts';
import * as installationUserActs from './operators/installation/user-acts.ts';
import * as operators from './operators/installation/operator-operations.ts';
import * as companySignIn from './sign-in/providers/connection-operations.ts';
import * as identityProviders from './sign-in/providers/operations.ts';
import * as groups from './rights/groups/operations.ts';
import * as health from './operators/health/operations.ts';
import * as appGrants from './account/app-grant-operations.ts';
import * as me from './account/operations.ts';
import * as mfa from './sign-in/second-factor/operations.ts';
import * as notifications from './account/notifications/operations.ts';
import * as organizationConnections from './tenants/connections/operations.ts';
import * as organizationDomains from './tenants/domains/operations.ts';
import * as organizationMembers from './tenants/members/operations.ts';
import * as organizationInvitations from './tenants/invitations/operations.ts';
import * as organizations from './tenants/organizations/operations.ts';
import * as passkeys from './sign-in/passkeys/operations.ts';
import * as passkeySignIn from './sign-in/passkeys/sign-in-operations.ts';
import * as permissions from './rights/permissions/operations.ts';
import { picture, uploadMyPicture } from './account/pictures/operations.ts';
import * as policies from './rights/policy/operations.ts';
import * as policyVersions from './rights/policy/version-operations.ts';
import * as policySnapshots from './rights/snapshots/operations.ts';
import * as projectAppLogos from './apps/logo-operations.ts';
import * as projectApps from './apps/operations.ts';
import * as projectMetadata from './oauth/metadata-operations.ts';
import * as projectAuthorization from './sign-in/authorize/authorize-operations.ts';
import * as projectEnrolment from './sign-in/enrolment/operations.ts';
import * as toService from './sign-in/service/operations.ts';
import * as projectOrganizations from './sign-in/organization-choice/operations.ts';
import * as projectLogout from './sign-in/end-session/operations.ts';
import * as projectRegistration from './oauth/registration-operations.ts';
import * as projectUserInfo from './oauth/tokens/user-info-operations.ts';
import * as projectTokens from './oauth/token-operations.ts';
import * as signInMethods from './sign-in/methods/operations.ts';
import * as projectSignIn from './sign-in/page-state/operations.ts';
import * as projects from './tenants/projects/operations.ts';
import * as resources from './rights/resources/operations.ts';
import * as roles from './rights/roles/operations.ts';
import * as organizationGrants from './tenants/grants/organization-operations.ts';
import * as projectGrants from './tenants/grants/operations.ts';
import * as signingKeys from './machines/signing-keys/operations.ts';
import * as tags from './rights/tags/operations.ts';
import * as webhookSubscriptions from './webhooks/subscriptions/operations.ts';
import * as userImport from './tenants/users/import-operations.ts';
import * as users from './tenants/users/operations.ts';

/** The tags of the API, each with the modules that contain its operations. */
export const features = {
  Authentication: {
    ...auth,
    ...firstUser,
    ...federated,
    ...identityProviders,
    ...projectAuthorization,
    ...projectEnrolment,
    ...projectOrganizations,
    ...toService,
    ...projectLogout,
    ...projectSignIn,
    ...companySignIn,
    ...signInMethods,
    ...projectTokens,
    ...projectRegistration,
    ...projectUserInfo,
    ...deviceSignIn,
    ...projectMetadata,
  },
  Authorization: { ...authorization, ...forwardAuth, ...mine, ...subjects, ...policySnapshots },
  AuthZEN: { ...authzen, ...authzenSearch, ...authzenMetadata },
  Me: { ...me, ...notifications, uploadMyPicture },
  'App Grants': appGrants,
  MFA: mfa,
  Passkeys: { ...passkeySignIn, ...passkeys },
  Organizations: organizations,
  'Organization Invitations': organizationInvitations,
  'Organization Members': organizationMembers,
  'Organization Domains': organizationDomains,
  'Organization Connections': organizationConnections,
  Projects: projects,
  'Project Grants': { ...projectGrants, ...organizationGrants },
  Users: { ...users, ...userImport },
  Pictures: { picture },
  Roles: roles,
  Groups: groups,
  Permissions: permissions,
  Resources: resources,
  Policy: { ...policies, ...policyVersions },
  Tags: tags,
  'API Keys': apiKeys,
  'Project Apps': { ...projectApps, ...projectAppLogos },
  'Signing Keys': signingKeys,
  'Webhook Subscriptions': webhookSubscriptions,
  Audit: audit,
  Events: events,
  Installation: {
    ...installation,
    ...installationUsers,
    ...installationUserActs,
    ...impersonation,
    ...installationTenants,
    ...operators,
  },
  Health: health,
} as const;

/** The description of each tag, for readers who are new to the API. */
export const tagDescriptions: Readonly<Record<keyof typeof features, string>> = {
  Authentication: 'Signing in and out, tokens for machines and apps, and the keys that verify them.',
  Authorization: 'Checks whether a subject may do something in a scope, and why; lists who may do something.',
  AuthZEN: 'The same decisions for gateways and clients of OpenID AuthZEN Authorization API 1.0.',
  Me: 'The signed-in person: profile, sign-in methods, sessions, notifications, export and deletion.',
  'App Grants': 'What the signed-in person has consented to for apps.',
  MFA: 'The second factor of the signed-in person: authenticator apps and recovery codes.',
  Passkeys: 'Passkeys: adding and removing them, and signing in with one.',
  Organizations: 'Organizations: the customers of an account, with members and projects.',
  'Organization Invitations': 'Invitations by mail to join an organization.',
  'Organization Members': 'Who belongs to an organization, and in which role.',
  'Organization Domains': 'Domains of mail addresses that an organization has proved to control.',
  'Organization Connections': 'Identity providers of organizations, through which their own people sign in.',
  'Project Grants':
    'A project for the organization of a customer: what the owner grants, and what the customer accepts.',
  Projects: 'Projects: the products or environments whose access is managed.',
  Users: 'The people and managed users of an organization or a project.',
  Pictures: 'Pictures of users.',
  Roles: 'Named sets of groups that are assigned to users and keys.',
  Groups: 'Named sets of permissions, from which roles are made.',
  Permissions: 'The right to do one action on one resource, optionally under a condition.',
  Resources: 'The kinds of objects that permissions protect, with their actions.',
  Policy:
    'Roles, groups, permissions, resources and tags of a project as one document: plan, apply, roll back.',
  Tags: 'Labels to filter lists by.',
  'API Keys': 'Credentials of machines, exchanged for short-lived tokens.',
  'Project Apps': 'Apps whose users sign in with Doorward (OAuth 2.0).',
  'Signing Keys': 'The keys that sign the tokens of a project.',
  'Webhook Subscriptions': 'Which URLs receive which events of a project, and the state of their deliveries.',
  Audit: 'The hash-chained audit log.',
  Events: 'The feed of events, for consumers that poll instead of using webhooks.',
  Installation: 'The installation as a whole, for its operators: users, tenants, acts and who may do them.',
  Health: 'Whether the service is alive and ready.',
};

/** Every operation, with the name of its export. */
export const operations: readonly NamedOperation[] = Object.entries(features).flatMap(([tag, file]) =>
  Object.entries(file as Record<string, Operation>).map(([name, operation]) => ({ ...operation, name, tag })),
);

const permissionForm = /^[A-Z][A-Za-z]*:[A-Z][A-Za-z]*$/;

/**
 * Checks the declarations when the service starts: names are unique, and so are method and path together; each
 * operation has a guard; an operation that requires a permission has a scope.
 * @throws Error that names the operation
 */
export function assertValidOperations(all: readonly NamedOperation[]): void {
  const seen = new Set<string>();
  for (const op of all) {
    const address = `${op.method} ${op.path.replace(/:[A-Za-z]+/g, ':')}`;
    for (const key of [op.name, address]) {
      if (seen.has(key)) throw new Error(`declared twice: ${key}`);
      seen.add(key);
    }
    if (!['public', 'session', 'any'].includes(op.access) && !permissionForm.test(op.access)) {
      throw new Error(`${op.name} has no guard: "${op.access as string}"`);
    }
    if (op.access.includes(':') && (!op.scoped || !op.tenants?.length)) {
      throw new Error(`${op.name} asks for a permission but has no scope`);
    }
  }
}

/** Returns every permission (`Role:Create`) that an operation, or a rule inside one, requires. */
export const declaredPermissions = (all: readonly NamedOperation[]): string[] => [
  ...new Set([
    ...all.map(({ access }) => access).filter((access) => access.includes(':')),
    ...permissionsOfRules,
  ]),
];

/** Permissions that no operation declares as `access`, but that a rule inside an operation checks. */
const permissionsOfRules = ['ApiKey:CreateForUser', 'Authorization:Explain', 'Token:Introspect'];
