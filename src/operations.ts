import type { NamedOperation, Operation } from './kernel/operation.ts';
import * as apiKeys from './features/api-keys/operations.ts';
import * as audit from './features/audit/operations.ts';
import * as auth from './features/auth/operations.ts';
import * as federated from './features/auth/federated-operations.ts';
import * as authorization from './features/authorization/operations.ts';
import * as forwardAuth from './features/authorization/forward-auth.ts';
import * as mine from './features/authorization/my-operations.ts';
import * as events from './features/events/operations.ts';
import * as groups from './features/groups/operations.ts';
import * as health from './features/health/operations.ts';
import * as me from './features/me/operations.ts';
import * as mfa from './features/mfa/operations.ts';
import * as notifications from './features/me/notification-operations.ts';
import * as organizationMembers from './features/organization-members/operations.ts';
import * as organizationInvitations from './features/organization-invitations/operations.ts';
import * as organizations from './features/organizations/operations.ts';
import * as permissions from './features/permissions/operations.ts';
import { picture, uploadMyPicture } from './features/pictures/operations.ts';
import * as projectApps from './features/project-apps/operations.ts';
import * as projectMetadata from './features/project-sign-in/metadata-operations.ts';
import * as projectTokens from './features/project-sign-in/token-operations.ts';
import * as projectSignIn from './features/project-sign-in/operations.ts';
import * as projects from './features/projects/operations.ts';
import * as resources from './features/resources/operations.ts';
import * as roles from './features/roles/operations.ts';
import * as signingKeys from './features/signing-keys/operations.ts';
import * as tags from './features/tags/operations.ts';
import * as webhookSubscriptions from './features/webhook-subscriptions/operations.ts';
import * as users from './features/users/operations.ts';

/** The table of contents of the API: a tag, and the file, or two, with its operations. */
export const features = {
  Authentication: { ...auth, ...federated, ...projectSignIn, ...projectTokens, ...projectMetadata },
  Authorization: { ...authorization, ...forwardAuth, ...mine },
  Me: { ...me, ...notifications, uploadMyPicture },
  MFA: mfa,
  Organizations: organizations,
  'Organization Invitations': organizationInvitations,
  'Organization Members': organizationMembers,
  Projects: projects,
  Users: users,
  Pictures: { picture },
  Roles: roles,
  Groups: groups,
  Permissions: permissions,
  Resources: resources,
  Tags: tags,
  'API Keys': apiKeys,
  'Project Apps': projectApps,
  'Signing Keys': signingKeys,
  'Webhook Subscriptions': webhookSubscriptions,
  Audit: audit,
  Events: events,
  Health: health,
} as const;

/** What each tag is about, for whoever reads the API for the first time. */
export const tagDescriptions: Readonly<Record<keyof typeof features, string>> = {
  Authentication: 'Signing in and out, tokens for machines and apps, and the keys that verify them.',
  Authorization: 'May this subject do this, here, now, and why? And all that the caller may do.',
  Me: 'The signed-in person: profile, sign-in methods, sessions, notifications, export and deletion.',
  MFA: 'The second factor of the signed-in person: authenticator apps and recovery codes.',
  Organizations: 'Organizations: the customers of an account, with members and projects.',
  'Organization Invitations': 'Asking people by mail to join an organization.',
  'Organization Members': 'Who belongs to an organization, and in which role.',
  Projects: 'Projects: the products or environments whose access is managed.',
  Users: 'The people and managed users of an organization or a project.',
  Pictures: 'Pictures of users.',
  Roles: 'Named sets of groups that are assigned to users and keys.',
  Groups: 'Named sets of permissions, from which roles are made.',
  Permissions: 'The right to do one action on one resource, perhaps under a condition.',
  Resources: 'The kinds of things that permissions are about, and what can be done with them.',
  Tags: 'Labels by which lists can be filtered.',
  'API Keys': 'Credentials of machines, exchanged for short-lived tokens.',
  'Project Apps': 'Apps whose users sign in with Doorward (OAuth 2.0).',
  'Signing Keys': 'The keys that sign the tokens of a project.',
  'Webhook Subscriptions': 'Who is sent which events of a project, and how the deliveries went.',
  Audit: 'The chained record of who did what.',
  Events: 'The feed of what happened, for consumers that ask instead of being sent.',
  Health: 'Whether the service runs and can serve.',
};

/** Every operation, named by its export. */
export const operations: readonly NamedOperation[] = Object.entries(features).flatMap(([tag, file]) =>
  Object.entries(file as Record<string, Operation>).map(([name, operation]) => ({ ...operation, name, tag })),
);

const permissionForm = /^[A-Z][A-Za-z]*:[A-Z][A-Za-z]*$/;

/**
 * Refuses at start what must never be served: two operations of one name or address, an operation without a
 * guard, and a guarded one without a scope to be guarded in.
 */
export function assertSound(all: readonly NamedOperation[]): void {
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

/** `Role:Create` …: every permission that an operation, or a rule inside one, asks for. */
export const declaredPermissions = (all: readonly NamedOperation[]): string[] => [
  ...new Set([...all.map(({ access }) => access).filter((access) => access.includes(':')), ...askedInRules]),
];

/** Permissions that no route asks for by itself, but a rule does. */
const askedInRules = ['ApiKey:CreateForUser', 'Authorization:Check', 'Authorization:Explain'];
