import { z } from 'zod';
import type { Entity, Fields } from '../../kernel/entity.ts';
import type { JsonSchema } from '../../kernel/json-schema.ts';
import { projector } from '../../kernel/project.ts';
import { jsonSchemaOptions, uuid } from '../../values.ts';
import { ApiKey, ApiKeyScope } from '../api-keys/api-key.ts';
import { Group } from '../groups/group.ts';
import { Provider } from '../me/authentication-method.ts';
import { Session } from '../me/session.ts';
import { Invitation } from '../organization-invitations/invitation.ts';
import { Organization } from '../organizations/organization.ts';
import { Permission } from '../permissions/permission.ts';
import { ProjectApp } from '../project-apps/project-app.ts';
import { Project } from '../projects/project.ts';
import { Resource } from '../resources/resource.ts';
import { Role } from '../roles/role.ts';
import { SigningKey } from '../signing-keys/signing-key.ts';
import { User } from '../users/user.ts';
import { WebhookSubscription } from '../webhook-subscriptions/subscription.ts';
import * as example from './examples.ts';

/**
 * Every type of event that the service emits (events §3), each declared once. `data` of an event is what its schema
 * names and nothing else: the recorder passes it through here, so that no secret can reach an event by a mistake of
 * whoever records it. An event of a type that is not here cannot be recorded at all.
 */
export interface EventType {
  readonly name: string;
  readonly description: string;
  /** Only sent to subscriptions that name it; always in the feed. */
  readonly optIn: boolean;
  /** Of `data`. */
  readonly schema: z.ZodType;
  /** The noun whose public fields `data` has, if it is exactly these. */
  readonly noun: string | undefined;
  /** Of `data`. */
  readonly example: Readonly<Record<string, unknown>>;
}

const nouns = new WeakMap<z.ZodType, string>();

/** The public fields of a noun, without its relations. */
function base<F extends Fields>({ name: noun, fields }: Entity<F>): Entity<F>['schema'] {
  const shape = Object.entries(fields).flatMap(([name, { out }]) => (out ? [[name, out]] : []));
  const schema = z.object(Object.fromEntries(shape)) as unknown as Entity<F>['schema'];
  nouns.set(schema, noun);
  return schema;
}

const apiKey = base(ApiKey);
const exchange = z.object({ id: uuid, clientId: uuid, scope: ApiKeyScope, userId: uuid });
const invitation = base(Invitation);
const membership = z.object({ id: uuid, organizationId: uuid, userId: uuid, roleId: uuid });
const participation = z.object({ id: uuid, projectId: uuid, userId: uuid, roleIds: z.array(uuid) });
const user = base(User);
/** Whether it is the one that asks depends on who asks. */
const session = base(Session).omit({ isCurrent: true });
const subscription = base(WebhookSubscription);
const methodChange = z.object({
  id: uuid,
  change: z.enum(['added', 'verified', 'removed']),
  provider: Provider,
  label: z.string(),
});
const ping = z.object({ id: uuid, projectId: uuid });
const rotation = base(SigningKey).extend({ oldRevoked: z.boolean() });

const type = <S extends z.ZodType<Record<string, unknown>>>(
  name: string,
  description: string,
  schema: S,
  shown: z.output<S>,
): EventType => ({ name, description, schema, noun: nouns.get(schema), example: shown, optIn: false });

const optIn = (one: EventType): EventType => ({ ...one, optIn: true });

const types: readonly EventType[] = [
  type('api_key.created', 'An API key was created.', apiKey, example.apiKey),
  type(
    'api_key.rotated',
    'An API key has another secret. The old one works until `previousSecretExpiresAt`.',
    apiKey,
    example.rotatedApiKey,
  ),
  type('api_key.revoked', 'An API key was revoked, for good.', apiKey, example.revokedApiKey),
  type('api_key.deleted', 'An API key was deleted.', apiKey, example.deleted(example.apiKey)),
  type(
    'api_key.expiring',
    'An API key will expire: told 30, 7 and 1 days before `expiresAt`.',
    apiKey,
    example.apiKey,
  ),
  optIn(
    type('api_key.exchanged', 'An API key was exchanged for a token.', exchange, {
      id: example.apiKey.id,
      clientId: example.apiKey.clientId,
      scope: example.apiKey.scope,
      userId: example.apiKey.userId,
    }),
  ),
  ...crud('organization', 'An organization', base(Organization), example.organization),
  type('organization.member_added', 'A user joined an organization.', membership, example.membership),
  type(
    'organization.member_role_changed',
    'A member of an organization has another role.',
    membership,
    example.membership,
  ),
  type(
    'organization.member_removed',
    'A user was removed from an organization, or left it.',
    membership,
    example.membership,
  ),
  type('invitation.created', 'Somebody was invited to an organization.', invitation, example.invitation),
  type('invitation.accepted', 'An invitation was accepted.', invitation, example.acceptedInvitation),
  type('invitation.revoked', 'An invitation was revoked.', invitation, example.revokedInvitation),
  ...crud('project', 'A project', base(Project), example.project),
  type('project.user_added', 'A user takes part in a project.', participation, example.participation),
  type(
    'project.user_roles_changed',
    'A user has other roles in a project.',
    participation,
    example.participation,
  ),
  type(
    'project.user_removed',
    'A user was removed from a project, or left it.',
    participation,
    example.participation,
  ),
  ...crud('project_app', 'An app of a project', base(ProjectApp), example.projectApp),
  ...crud('user', 'A user', user, example.user),
  type('user.email_verified', 'A user proved that his address is his.', user, example.user),
  type('user.password_changed', 'The password of a user was changed or reset.', user, example.user),
  type(
    'user.sign_in_methods_changed',
    'A way to sign in was added to a user, verified, or removed. `id` is the user.',
    methodChange,
    example.methodChange,
  ),
  type('user.mfa_changed', 'A second factor of a user was added or removed.', user, example.user),
  ...crud('role', 'A role', base(Role), example.role),
  ...crud('group', 'A group', base(Group), example.group),
  ...crud('permission', 'A permission', base(Permission), example.permission),
  ...crud('resource', 'A resource', base(Resource), example.resource),
  optIn(type('session.created', 'A user signed in.', session, example.session)),
  type('session.revoked', 'A session was ended before its time.', session, example.session),
  type(
    'session.reuse_detected',
    'A refresh token was used a second time, so its session was ended.',
    session,
    example.session,
  ),
  type('signing_key.rotated', 'Another key signs. `data` is that key.', rotation, example.rotation),
  type(
    'webhook.failing',
    'A webhook subscription will be disabled unless its receiver answers soon.',
    subscription,
    example.failingSubscription,
  ),
  type(
    'webhook.disabled',
    'A webhook subscription was disabled; `disabledReason` says why.',
    subscription,
    example.disabledSubscription,
  ),
  type(
    'webhook.recovered',
    'The receiver of a disabled webhook subscription answers again.',
    subscription,
    example.subscription,
  ),
  type('webhook.ping', 'Sent to try a receiver; never in the feed. `data` names the subscription.', ping, {
    id: example.subscription.id,
    projectId: example.subscription.projectId,
  }),
];

function crud<S extends z.ZodType<Record<string, unknown>>>(
  noun: string,
  subject: string,
  schema: S,
  shown: z.output<S>,
): EventType[] {
  return [
    type(`${noun}.created`, `${subject} was created.`, schema, shown),
    type(`${noun}.updated`, `${subject} was changed; \`changes\` tells how.`, schema, shown),
    type(`${noun}.deleted`, `${subject} was deleted.`, schema, example.deleted(shown)),
  ];
}

/** Sent to a receiver and no event: it is never recorded. */
export const PING = 'webhook.ping';

/** By name. */
export const eventCatalogue: ReadonlyMap<string, EventType> = new Map(types.map((one) => [one.name, one]));

/**
 * What an event of this type tells of that.
 * @throws Error for a type that nobody declared
 */
export function eventData(name: string, data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const found = eventCatalogue.get(name);
  if (!found) throw new Error(`the event ${name} is not in the catalogue`);
  return projector(found.schema)(data) as Record<string, unknown>;
}

const wholeMembers = new Map<string, ReadonlySet<string>>();

/** Whether a member of an event's data has a fixed form, so that a part of it would not keep its schema. */
export function isWhole(name: string, member: string): boolean {
  const known = wholeMembers.get(name) ?? fixedMembers(eventCatalogue.get(name)?.schema ?? z.unknown());
  wholeMembers.set(name, known);
  return known.has(member);
}

function fixedMembers(schema: z.ZodType): ReadonlySet<string> {
  const root = z.toJSONSchema(schema, { ...jsonSchemaOptions, io: 'output' }) as JsonSchema;
  const definitions = (root['$defs'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const isFixed = (one: JsonSchema): boolean => {
    const { $ref, anyOf = [] } = one;
    const named = $ref === undefined ? undefined : definitions[$ref.replace('#/$defs/', '')];
    if (named) return isFixed(named);
    return (
      ['format', 'pattern', 'enum', 'const', 'properties'].some((word) => word in one) || anyOf.some(isFixed)
    );
  };
  const members = Object.entries(root.properties ?? {});
  return new Set(members.filter(([, one]) => isFixed(one)).map(([member]) => member));
}

/** Whether that is the name of a type, or `noun.*` of a noun that has types. */
export const isTypeOrNoun = (name: string): boolean =>
  name.endsWith('.*')
    ? [...eventCatalogue.keys()].some((one) => one.startsWith(name.slice(0, -1)))
    : eventCatalogue.has(name);

/** What may be asked for by name: `noun.*`, then each type. */
export const typesAndNouns: readonly string[] = [
  ...new Set([...eventCatalogue.keys()].map((name) => `${name.split('.')[0]}.*`)),
  ...eventCatalogue.keys(),
];

/** What receivers of webhooks get of each type of event, for the documents. */
export const sentEvents = () =>
  [...eventCatalogue.values()].map((type) => ({
    name: type.name,
    description: type.description,
    data: dataOf(type),
  }));

/** The definition of the noun, whose relations may be absent, or a schema of its own. */
function dataOf({ noun, schema }: EventType): JsonSchema {
  if (noun !== undefined) return { $ref: `#/$defs/${noun}` };
  const rendered = z.toJSONSchema(schema, { ...jsonSchemaOptions, io: 'output' }) as JsonSchema;
  // What it refers to is defined for the answers too.
  const { $defs: _, $schema: __, ...data } = rendered;
  return data;
}
