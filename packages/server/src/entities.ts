import { ApiKey } from './features/api-keys/api-key.ts';
import { AuditLogEntry } from './features/audit/entry.ts';
import { Group } from './features/groups/group.ts';
import {
  InstallationAccount,
  InstallationOrganization,
  InstallationProject,
} from './features/installation/tenants.ts';
import { InstallationUser } from './features/installation/user.ts';
import { Invitation } from './features/organization-invitations/invitation.ts';
import { OrganizationConnection } from './features/organization-connections/connection.ts';
import { OrganizationDomain } from './features/organization-domains/domain.ts';
import { Member } from './features/organization-members/member.ts';
import { Organization } from './features/organizations/organization.ts';
import { Permission } from './features/permissions/permission.ts';
import { ProjectApp } from './features/project-apps/project-app.ts';
import { OrganizationGrant } from './features/project-grants/organization-grant.ts';
import { ProjectGrant } from './features/project-grants/grant.ts';
import { PolicyVersion } from './features/policy/policy-version.ts';
import { Project } from './features/projects/project.ts';
import { Resource } from './features/resources/resource.ts';
import { Role } from './features/roles/role.ts';
import { SigningKey } from './features/signing-keys/signing-key.ts';
import { Tag } from './features/tags/tag.ts';
import { Account } from './domain/identity/account.ts';
import { AuthenticationMethod } from './features/me/authentication-method.ts';
import { AppGrant } from './features/me/app-grant.ts';
import { Session } from './features/me/session.ts';
import { Notification } from './domain/notifications/notification.ts';
import { WebhookAttempt, WebhookDelivery } from './features/webhook-subscriptions/delivery.ts';
import { WebhookSubscription } from './features/webhook-subscriptions/subscription.ts';
import { User } from './features/users/user.ts';
import type { AnyEntity } from './kernel/entity.ts';

/** Every entity that answers can contain. */
export const entities: readonly AnyEntity[] = [
  Account,
  User,
  AuthenticationMethod,
  Session,
  AppGrant,
  Notification,
  Organization,
  Invitation,
  Member,
  OrganizationDomain,
  OrganizationConnection,
  Project,
  ProjectGrant,
  OrganizationGrant,
  Role,
  Group,
  Permission,
  Resource,
  PolicyVersion,
  Tag,
  ApiKey,
  ProjectApp,
  SigningKey,
  WebhookSubscription,
  WebhookDelivery,
  WebhookAttempt,
  AuditLogEntry,
  InstallationUser,
  InstallationOrganization,
  InstallationProject,
  InstallationAccount,
];
