import { ApiKey } from './schema/machines/api-key.ts';
import { AuditLogEntry } from './schema/events/audit-log-entry.ts';
import { Group } from './schema/rights/group.ts';
import {
  InstallationAccount,
  InstallationOrganization,
  InstallationProject,
} from './schema/operators/installation-tenants.ts';
import { InstallationUser } from './schema/operators/installation-user.ts';
import { Invitation } from './schema/tenants/organization-invitation.ts';
import { OrganizationConnection } from './schema/tenants/organization-connection.ts';
import { OrganizationDomain } from './schema/tenants/organization-domain.ts';
import { Member } from './schema/tenants/member.ts';
import { Organization } from './schema/tenants/organization.ts';
import { Permission } from './schema/rights/permission.ts';
import { ProjectApp } from './schema/apps/project-app.ts';
import { OrganizationGrant } from './schema/tenants/organization-grant.ts';
import { ProjectGrant } from './schema/tenants/project-grant.ts';
import { PolicyVersion } from './schema/rights/policy-version.ts';
import { Project } from './schema/tenants/project.ts';
import { Resource } from './schema/rights/resource.ts';
import { Role } from './schema/rights/role.ts';
import { SigningKey } from './schema/machines/signing-key.ts';
import { Tag } from './schema/rights/tag.ts';
import { Account } from './schema/people/account.ts';
import { AuthenticationMethod } from './schema/sign-in/authentication-method.ts';
import { AppGrant } from './schema/oauth/app-grant.ts';
import { Session } from './schema/sign-in/session.ts';
import { Notification } from './schema/people/notification.ts';
import { WebhookAttempt, WebhookDelivery } from './schema/webhooks/webhook-delivery.ts';
import { WebhookSubscription } from './schema/webhooks/webhook-subscription.ts';
import { User } from './schema/people/user.ts';
import type { AnyEntity } from './kernel/entity.ts';

/** All entities that responses can contain. */
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
