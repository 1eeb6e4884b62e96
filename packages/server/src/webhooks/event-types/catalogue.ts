import { z } from 'zod';
import type { JsonSchema } from '../../kernel/output/json-schema.ts';
import { projector } from '../../kernel/output/projector.ts';
import { jsonSchemaOptions, uuid } from '../../kernel/input/values.ts';
import { ApiKey, ApiKeyScope } from '../../schema/machines/api-key.ts';
import { Group } from '../../schema/rights/group.ts';
import { Provider } from '../../schema/sign-in/authentication-method.ts';
import { Session } from '../../schema/sign-in/session.ts';
import { installationTypes } from './installation-types.ts';
import { organizationTypes } from './organization-types.ts';
import { Invitation } from '../../schema/tenants/organization-invitation.ts';
import { Organization } from '../../schema/tenants/organization.ts';
import { Permission } from '../../schema/rights/permission.ts';
import { ProjectApp } from '../../schema/apps/project-app.ts';
import { PolicyVersion } from '../../schema/rights/policy-version.ts';
import { Project } from '../../schema/tenants/project.ts';
import { Resource } from '../../schema/rights/resource.ts';
import { Role } from '../../schema/rights/role.ts';
import { SigningKey } from '../../schema/machines/signing-key.ts';
import { User } from '../../schema/people/user.ts';
import { WebhookSubscription } from '../../schema/webhooks/webhook-subscription.ts';
import { createUpdateDelete, eventType, optIn, publicFields, type EventType } from './event-type.ts';
import * as example from './examples.ts';

export type { EventType };

const apiKey = publicFields(ApiKey);
const exchange = z.object({ id: uuid, clientId: uuid, scope: ApiKeyScope, userId: uuid });
const invitation = publicFields(Invitation);
const membership = z.object({ id: uuid, organizationId: uuid, userId: uuid, roleId: uuid });
const participation = z.object({ id: uuid, projectId: uuid, userId: uuid, roleIds: z.array(uuid) });
/** The data of a grant. The optional members are left out for the customer, who must not see them. */
const grant = z.object({
  id: uuid,
  projectId: uuid,
  organizationId: uuid.nullable(),
  name: z.string().optional(),
  roleIds: z.array(uuid),
  metadata: z.record(z.string(), z.unknown()).optional(),
  maxUsers: z.int().nullable(),
  features: z.array(z.string()),
  status: z.string(),
  revokedBy: z.string().nullable(),
  revokedReason: z.string().nullable(),
});
const grantUser = z.object({
  id: uuid,
  grantId: uuid,
  organizationId: uuid,
  userId: uuid,
  roleIds: z.array(uuid),
});
const user = publicFields(User);
/** The data of a session, without `isCurrent`, which depends on the reader. */
const session = publicFields(Session).omit({ isCurrent: true });
const subscription = publicFields(WebhookSubscription);
const methodChange = z.object({
  id: uuid,
  change: z.enum(['added', 'verified', 'removed']),
  provider: z.enum([...Provider.options, 'passkey']),
  label: z.string(),
});
const impersonation = z.object({ id: uuid, userId: uuid, reason: z.string().nullable() });
const ping = z.object({ id: uuid, projectId: uuid });
const rotation = publicFields(SigningKey).extend({ oldRevoked: z.boolean() });

const impersonated = (what: string, description: string): EventType =>
  eventType(`impersonation.${what}`, description, impersonation, example.impersonation);

const types: readonly EventType[] = [
  eventType('api_key.created', 'An API key was created.', apiKey, example.apiKey),
  eventType(
    'api_key.rotated',
    'An API key has a new secret. The old one works until `previousSecretExpiresAt`.',
    apiKey,
    example.rotatedApiKey,
  ),
  eventType('api_key.revoked', 'An API key was revoked, for good.', apiKey, example.revokedApiKey),
  eventType('api_key.deleted', 'An API key was deleted.', apiKey, example.deleted(example.apiKey)),
  eventType(
    'api_key.expiring',
    'An API key will expire soon; sent 30, 7 and 1 days before `expiresAt`.',
    apiKey,
    example.apiKey,
  ),
  optIn(
    eventType('api_key.exchanged', 'An API key was exchanged for a token.', exchange, {
      id: example.apiKey.id,
      clientId: example.apiKey.clientId,
      scope: example.apiKey.scope,
      userId: example.apiKey.userId,
    }),
  ),
  ...createUpdateDelete('organization', 'An organization', publicFields(Organization), example.organization),
  eventType(
    'organization.suspended',
    'An operator of the service suspended an organization.',
    publicFields(Organization),
    example.suspendedOrganization,
  ),
  eventType(
    'organization.reactivated',
    'An operator ended the suspension of an organization.',
    publicFields(Organization),
    example.organization,
  ),
  eventType('organization.member_added', 'A user joined an organization.', membership, example.membership),
  eventType(
    'organization.member_role_changed',
    'The role of a member of an organization changed.',
    membership,
    example.membership,
  ),
  eventType(
    'organization.member_removed',
    'A user was removed from an organization, or left it.',
    membership,
    example.membership,
  ),
  ...organizationTypes,
  eventType('invitation.created', 'A person was invited to an organization.', invitation, example.invitation),
  eventType('invitation.accepted', 'An invitation was accepted.', invitation, example.acceptedInvitation),
  eventType('invitation.revoked', 'An invitation was revoked.', invitation, example.revokedInvitation),
  eventType(
    'policy.applied',
    'A policy document was applied to a project.',
    publicFields(PolicyVersion),
    example.policyVersion,
  ),
  ...createUpdateDelete('project', 'A project', publicFields(Project), example.project),
  eventType('project.user_added', 'A user was added to a project.', participation, example.participation),
  eventType(
    'project.user_roles_changed',
    'The roles of a user in a project changed.',
    participation,
    example.participation,
  ),
  eventType(
    'project.user_removed',
    'A user was removed from a project, or left it.',
    participation,
    example.participation,
  ),
  eventType(
    'project_grant.created',
    'A project was granted to a customer, or offered.',
    grant,
    example.projectGrant,
  ),
  eventType(
    'project_grant.updated',
    'A project grant was changed; `changes` shows how.',
    grant,
    example.projectGrant,
  ),
  eventType('project_grant.accepted', 'A customer accepted an offered project.', grant, example.projectGrant),
  eventType('project_grant.declined', 'An offered project was declined.', grant, example.declinedGrant),
  eventType('project_grant.suspended', 'A project grant was suspended.', grant, example.suspendedGrant),
  eventType('project_grant.resumed', 'A suspended project grant works again.', grant, example.projectGrant),
  eventType('project_grant.revoked', 'A project grant has ended, for good.', grant, example.revokedGrant),
  optIn(
    eventType(
      'project_grant.user_changed',
      'The roles of a user of a customer in the granted project changed. `id` is the grant.',
      grantUser,
      example.grantUser,
    ),
  ),
  ...createUpdateDelete('project_app', 'An app of a project', publicFields(ProjectApp), example.projectApp),
  ...createUpdateDelete('user', 'A user', user, example.user),
  eventType('user.suspended', 'An operator of the service suspended a user.', user, example.user),
  eventType('user.reactivated', 'An operator ended the suspension of a user.', user, example.user),
  eventType('user.email_verified', 'A user verified their e-mail address.', user, example.user),
  eventType('user.password_changed', 'The password of a user was changed or reset.', user, example.user),
  eventType(
    'user.sign_in_methods_changed',
    'A way to sign in was added to a user, verified, or removed. `id` is the user.',
    methodChange,
    example.methodChange,
  ),
  eventType('user.mfa_changed', 'A second factor of a user was added or removed.', user, example.user),
  impersonated('started', 'An operator began to act for a user.'),
  impersonated('ended', 'An operator no longer acts for a user.'),
  impersonated(
    'entered',
    'An operator who acts for a member entered the organization or one of its projects.',
  ),
  ...createUpdateDelete('role', 'A role', publicFields(Role), example.role),
  ...createUpdateDelete('group', 'A group', publicFields(Group), example.group),
  ...createUpdateDelete('permission', 'A permission', publicFields(Permission), example.permission),
  ...createUpdateDelete('resource', 'A resource', publicFields(Resource), example.resource),
  optIn(eventType('session.created', 'A user signed in.', session, example.session)),
  eventType('session.revoked', 'A session was ended before it expired.', session, example.session),
  eventType(
    'session.reuse_detected',
    'A refresh token was used a second time, so its session was ended.',
    session,
    example.session,
  ),
  eventType('signing_key.rotated', 'A new key signs. `data` is that key.', rotation, example.rotation),
  eventType(
    'webhook.failing',
    'A webhook subscription will be disabled unless its receiver answers soon.',
    subscription,
    example.failingSubscription,
  ),
  eventType(
    'webhook.disabled',
    'A webhook subscription was disabled; `disabledReason` says why.',
    subscription,
    example.disabledSubscription,
  ),
  eventType(
    'webhook.recovered',
    'The receiver of a disabled webhook subscription answers again.',
    subscription,
    example.subscription,
  ),
  eventType(
    'webhook.ping',
    'Sent to test a receiver; never in the feed. `data` identifies the subscription.',
    ping,
    {
      id: example.subscription.id,
      projectId: example.subscription.projectId,
    },
  ),
];

/** A message to test a receiver. It is not an event and is never recorded. */
export const PING = 'webhook.ping';

/** The event types that tenants can read or subscribe to, by name. */
export const eventCatalogue: ReadonlyMap<string, EventType> = new Map(
  types.map((eventType) => [eventType.name, eventType]),
);

const schemaOf = (name: string): z.ZodType | undefined =>
  eventCatalogue.get(name)?.schema ?? installationTypes.get(name);

/**
 * Projects data to the schema of the event type.
 * @throws Error for an undeclared type
 */
export function eventData(name: string, data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const schema = schemaOf(name);
  if (!schema) throw new Error(`the event ${name} is not in the catalogue`);
  return projector(schema)(data) as Record<string, unknown>;
}

const fixedMembersByType = new Map<string, ReadonlySet<string>>();

/** Whether a member of an event's data has a fixed form, so that shortening its value would violate the schema. */
export function isFixedMember(name: string, member: string): boolean {
  const members = fixedMembersByType.get(name) ?? fixedMembers(schemaOf(name) ?? z.unknown());
  fixedMembersByType.set(name, members);
  return members.has(member);
}

function fixedMembers(schema: z.ZodType): ReadonlySet<string> {
  const root = z.toJSONSchema(schema, { ...jsonSchemaOptions, io: 'output' }) as JsonSchema;
  const definitions = (root['$defs'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const isFixed = (jsonSchema: JsonSchema): boolean => {
    const { $ref, anyOf = [] } = jsonSchema;
    const named = $ref === undefined ? undefined : definitions[$ref.replace('#/$defs/', '')];
    if (named) return isFixed(named);
    return (
      ['format', 'pattern', 'enum', 'const', 'properties'].some((word) => word in jsonSchema) ||
      anyOf.some(isFixed)
    );
  };
  const members = Object.entries(root.properties ?? {});
  return new Set(members.filter(([, jsonSchema]) => isFixed(jsonSchema)).map(([member]) => member));
}

/** Whether the text is the name of an event type, or `noun.*` for a noun that has event types. */
export const isEventFilter = (name: string): boolean =>
  name.endsWith('.*')
    ? [...eventCatalogue.keys()].some((item) => item.startsWith(name.slice(0, -1)))
    : eventCatalogue.has(name);

/** The filters that a subscription accepts: first each `noun.*`, then each event type. */
export const eventFilters: readonly string[] = [
  ...new Set([...eventCatalogue.keys()].map((name) => `${name.split('.')[0]}.*`)),
  ...eventCatalogue.keys(),
];
