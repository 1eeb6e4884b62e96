import { isInstallationPermission } from './installation-roles.ts';
import {
  roleIdOf,
  resourceIdOf,
  permissionIdOf,
  groupIdOf,
  roleLevels,
  type RoleName,
} from '../schema/rights/built-in-ids.ts';

const roleNames = Object.keys(roleLevels) as RoleName[];

/** The actions on a noun that a role has. The name of the set stays the same when actions are added to it. */
interface Part {
  readonly name: string;
  readonly actions: 'all' | readonly string[];
}
type Allotment = Part | null;

const part = (name: string, ...actions: string[]): Part => ({ name, actions });
const all: Part = { name: 'manage', actions: 'all' };
const none = null;
const Q = part('view', 'Query');
const QU = part('edit', 'Query', 'Update');
const QC = part('found', 'Query', 'Create');
const QCU = part('create and edit', 'Query', 'Create', 'Update');

/** The order in which actions are listed. Actions that are not in this list follow, sorted by name. */
const order = [
  'Query',
  'Read',
  'Create',
  'ResendEmail',
  'Renew',
  'Verify',
  'Update',
  'Accept',
  'Leave',
  'Remove',
  'Revoke',
  'Delete',
  'Rotate',
  'RotateSecret',
  'CreateForUser',
  'Test',
  'Replay',
  'Check',
  'Explain',
  'Plan',
  'Apply',
];

const rankOf = (action: string): number => (order.includes(action) ? order.indexOf(action) : order.length);
const byRank = (a: string, b: string): number => rankOf(a) - rankOf(b) || (a < b ? -1 : 1);

/**
 * The table of authorization §4, with the roles as columns in the order of `roleLevels`. A missing last column means
 * none.
 */
const matrix: Readonly<Record<string, readonly Allotment[]>> = {
  Organization: [QC, part('own', 'Query', 'Update', 'Delete'), QU, Q, Q, none, none, QC],
  OrganizationInvitation: [none, all, all, Q, Q, none, none],
  OrganizationDomain: [none, all, all, Q, Q, none, none],
  OrganizationConnection: [none, all, Q, none, none, none, none],
  OrganizationMember: [none, all, all, Q, Q, none, none],
  Project: [all, all, all, QCU, Q, QU, Q, QC],
  ProjectGrant: [part('grant', 'Query', 'Create', 'Update', 'Revoke'), all, all, Q, Q, Q, Q],
  User: [all, all, all, QCU, Q, all, Q, Q],
  Role: [all, all, all, all, Q, all, Q],
  Group: [all, all, all, all, Q, all, Q],
  Permission: [all, all, all, all, Q, all, Q],
  Resource: [all, all, all, all, Q, all, Q],
  Tag: [all, all, all, all, Q, all, Q],
  ApiKey: [all, all, all, part('develop', 'Query', 'Create', 'Rotate', 'Revoke', 'Delete'), Q, all, Q, Q],
  ProjectApp: [all, all, all, all, Q, all, Q],
  SigningKey: [all, all, all, Q, Q, all, Q],
  WebhookSubscription: [all, all, all, all, Q, all, Q],
  WebhookDelivery: [all, all, all, all, none, all, none],
  AuditLog: [all, all, all, none, none, all, none],
  Event: [all, all, all, all, none, all, none],
  Authorization: [all, all, all, all, none, all, none],
  Policy: [all, all, all, all, Q, all, Q],
  PolicySnapshot: [all, all, all, all, none, all, none],
  Token: [all, all, all, none, none, all, none],
};

/**
 * The built-in rows: one resource per noun, one unconditional permission per `Noun:Action`, one group per noun and set
 * of actions that a role has, and eight roles (authorization §4). Nouns and actions come from the operation
 * declarations, so a permission that no operation needs can't exist; this file only assigns permissions to roles. Ids
 * are UUIDs derived from names, so they are equal in every installation.
 */
export interface BuiltIns {
  readonly nouns: ReadonlySet<string>;
  readonly resources: readonly { id: string; slug: string; actions: readonly string[] }[];
  readonly permissions: readonly { id: string; name: string; resourceId: string; action: string }[];
  readonly groups: readonly { id: string; name: string; permissionIds: readonly string[] }[];
  readonly roles: readonly { id: string; name: string; level: string; groupIds: readonly string[] }[];
}

/**
 * Derives the built-in rows from the permissions that operations declare (`Role:Create` …). Permissions on the
 * installation get no rows, because tenants would see them.
 *
 * @throws Error if a name has no action, or its noun has no line in the table
 */
export function builtIns(declared: Iterable<string>): BuiltIns {
  const actionsOf = new Map<string, string[]>();
  for (const name of declared) {
    if (isInstallationPermission(name)) continue;
    const [noun = '', action = ''] = name.split(':');
    if (action === '') throw new Error(`${name} names no action`);
    const actions = actionsOf.get(noun) ?? [];
    if (!actions.includes(action)) actions.push(action);
    actionsOf.set(noun, actions);
  }
  for (const actions of actionsOf.values()) actions.sort(byRank);
  const groups = new Map<string, { id: string; name: string; permissionIds: string[] }>();
  const groupsOfRole = new Map<RoleName, string[]>(roleNames.map((name) => [name, []]));
  for (const [noun, actions] of actionsOf) {
    const row = matrix[noun];
    if (!row) throw new Error(`no role can hold ${noun}: the table of built-in roles lacks it`);
    roleNames.forEach((role, index) => {
      const allotment = row[index] ?? none;
      if (allotment === none) return;
      const held = actions.filter(
        (action) => allotment.actions === 'all' || allotment.actions.includes(action),
      );
      if (held.length === 0) return;
      const id = groupIdOf(noun, allotment.name);
      const permissionIds = held.map((action) => permissionIdOf(`${noun}:${action}`));
      groups.set(id, { id, name: `${noun}: ${held.join(', ')}`, permissionIds });
      groupsOfRole.get(role)?.push(id);
    });
  }
  return {
    nouns: new Set(actionsOf.keys()),
    resources: [...actionsOf].map(([slug, actions]) => ({ id: resourceIdOf(slug), slug, actions })),
    permissions: [...actionsOf].flatMap(([noun, actions]) =>
      actions.map((action) => ({
        id: permissionIdOf(`${noun}:${action}`),
        name: `${noun}:${action}`,
        resourceId: resourceIdOf(noun),
        action,
      })),
    ),
    groups: [...groups.values()],
    roles: roleNames.map((name) => ({
      id: roleIdOf(name),
      name,
      level: roleLevels[name],
      groupIds: groupsOfRole.get(name) ?? [],
    })),
  };
}
