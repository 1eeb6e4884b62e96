import { v5 } from 'uuid';

/**
 * The built-in rows: one resource per noun, one unconditional permission per `Noun:Action`, one group per noun
 * and distinct set of actions in a role, and seven roles (authorization §4). Nouns and actions come from the
 * operation declarations, so a permission that no operation asks for cannot exist; only who gets what is said
 * here. Ids are UUIDs of the names, equal in every installation.
 */

const builtInId = (kind: string, name: string): string => v5(`doorward:${kind}:${name}`, v5.URL);
export const roleIdOf = (name: RoleName): string => builtInId('role', name);
export const resourceIdOf = (noun: string): string => builtInId('resource', noun);
export const permissionIdOf = (name: string): string => builtInId('permission', name);
export const groupIdOf = (name: string): string => builtInId('group', name);

const levels = {
  'Account Owner': 'account',
  'Organization Owner': 'organization',
  'Organization Admin': 'organization',
  'Organization Developer': 'organization',
  'Organization Viewer': 'organization',
  'Project Admin': 'project',
  'Project Viewer': 'project',
} as const;
export type RoleName = keyof typeof levels;
export const roleNames = Object.keys(levels) as RoleName[];

export const ACCOUNT_OWNER = roleIdOf('Account Owner');
export const ORGANIZATION_OWNER = roleIdOf('Organization Owner');

type Allotment = 'all' | 'none' | readonly string[];

const all = 'all';
const none = 'none';
const Q = ['Query'] as const;
const QU = ['Query', 'Update'] as const;
const QCU = ['Query', 'Create', 'Update'] as const;

/** Actions are listed in this order, which names of built-in groups (and so their ids) follow. */
const order = [
  'Query',
  'Create',
  'ResendEmail',
  'Renew',
  'Update',
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
];

/** The table of authorization §4, column by column in the order of `levels`. */
const matrix: Readonly<Record<string, readonly Allotment[]>> = {
  Organization: [['Query', 'Create'], ['Query', 'Update', 'Delete'], QU, Q, Q, none, none],
  OrganizationInvitation: [none, all, all, Q, Q, none, none],
  OrganizationMember: [none, all, all, Q, Q, none, none],
  Project: [all, all, all, QCU, Q, QU, Q],
  User: [all, all, all, QCU, Q, all, Q],
  Role: [all, all, all, all, Q, all, Q],
  Group: [all, all, all, all, Q, all, Q],
  Permission: [all, all, all, all, Q, all, Q],
  Resource: [all, all, all, all, Q, all, Q],
  Tag: [all, all, all, all, Q, all, Q],
  ApiKey: [all, all, all, ['Query', 'Create', 'Rotate', 'Revoke', 'Delete'], Q, all, Q],
  ProjectApp: [all, all, all, all, Q, all, Q],
  SigningKey: [all, all, all, Q, Q, all, Q],
  WebhookSubscription: [all, all, all, all, Q, all, Q],
  WebhookDelivery: [all, all, all, all, none, all, none],
  AuditLog: [all, all, all, none, none, all, none],
  Event: [all, all, all, all, none, all, none],
  Authorization: [all, all, all, all, none, all, none],
};

export interface BuiltIns {
  readonly nouns: ReadonlySet<string>;
  readonly resources: readonly { id: string; slug: string; actions: readonly string[] }[];
  readonly permissions: readonly { id: string; name: string; resourceId: string; action: string }[];
  readonly groups: readonly { id: string; name: string; permissionIds: readonly string[] }[];
  readonly roles: readonly { id: string; name: string; level: string; groupIds: readonly string[] }[];
}

/**
 * Derives the built-in rows from the permissions that operations declare (`Role:Create` …).
 * @throws Error when a noun has no line in the table, or the table names an action that nothing declares
 */
export function builtIns(declared: Iterable<string>): BuiltIns {
  const actionsOf = new Map<string, string[]>();
  for (const name of declared) {
    const [noun = '', action = ''] = name.split(':');
    const actions = actionsOf.get(noun) ?? [];
    if (!actions.includes(action)) actions.push(action);
    actionsOf.set(noun, actions);
  }
  for (const [noun, actions] of actionsOf) {
    const unknown = actions.find((action) => !order.includes(action));
    if (unknown !== undefined) throw new Error(`${noun}:${unknown} has no place in the order of actions`);
    actions.sort((a, b) => order.indexOf(a) - order.indexOf(b));
  }
  const groups = new Map<string, { id: string; name: string; permissionIds: string[] }>();
  const groupsOfRole = new Map<RoleName, string[]>(roleNames.map((name) => [name, []]));
  for (const [noun, actions] of actionsOf) {
    const row = matrix[noun];
    if (!row) throw new Error(`no role can hold ${noun}: the table of built-in roles lacks it`);
    roleNames.forEach((role, index) => {
      const allotment = row[index] ?? none;
      if (allotment === none) return;
      const held = allotment === all ? actions : actions.filter((action) => allotment.includes(action));
      if (held.length === 0) return;
      const name = `${noun}: ${held.join(', ')}`;
      const permissionIds = held.map((action) => permissionIdOf(`${noun}:${action}`));
      groups.set(name, { id: groupIdOf(name), name, permissionIds });
      groupsOfRole.get(role)?.push(groupIdOf(name));
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
      level: levels[name],
      groupIds: groupsOfRole.get(name) ?? [],
    })),
  };
}
