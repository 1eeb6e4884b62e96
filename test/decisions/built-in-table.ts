import { v5 } from 'uuid';

/**
 * The built-in roles (authorization §4), written out once more as the contract has them: what the service derives from
 * its declarations, and what it shows of itself, hold exactly this and nothing else.
 */
export const actions: Readonly<Record<string, string>> = {
  Organization: 'Query, Create, Update, Delete',
  OrganizationInvitation: 'Query, Create, ResendEmail, Renew, Revoke',
  OrganizationMember: 'Query, Update, Remove',
  Project: 'Query, Create, Update, Delete',
  User: 'Query, Create, Update, Delete',
  Role: 'Query, Create, Update, Delete',
  Group: 'Query, Create, Update, Delete',
  Permission: 'Query, Create, Update, Delete',
  Resource: 'Query, Create, Update, Delete',
  Tag: 'Query, Create, Update, Delete',
  ApiKey: 'Query, Create, Revoke, Delete, Rotate, CreateForUser',
  ProjectApp: 'Query, Create, Update, Delete, RotateSecret',
  SigningKey: 'Query, Rotate',
  WebhookSubscription: 'Query, Create, Update, Delete, RotateSecret, Test',
  WebhookDelivery: 'Query, Replay',
  AuditLog: 'Query',
  Event: 'Query',
  Authorization: 'Check, Explain',
};

export const roles = [
  ['Account Owner', 'account'],
  ['Organization Owner', 'organization'],
  ['Organization Admin', 'organization'],
  ['Organization Developer', 'organization'],
  ['Organization Viewer', 'organization'],
  ['Project Admin', 'project'],
  ['Project Viewer', 'project'],
] as const;

/** ● all actions of the noun, – none, else the letters Q C U D or names; a column for each role. */
const table = `
  Organization           | Q C | Q U D | Q U | Q                     | Q | –   | –
  OrganizationInvitation | –   | ●     | ●   | Q                     | Q | –   | –
  OrganizationMember     | –   | ●     | ●   | Q                     | Q | –   | –
  Project                | ●   | ●     | ●   | Q C U                 | Q | Q U | Q
  User                   | ●   | ●     | ●   | Q C U                 | Q | ●   | Q
  Role                   | ●   | ●     | ●   | ●                     | Q | ●   | Q
  Group                  | ●   | ●     | ●   | ●                     | Q | ●   | Q
  Permission             | ●   | ●     | ●   | ●                     | Q | ●   | Q
  Resource               | ●   | ●     | ●   | ●                     | Q | ●   | Q
  Tag                    | ●   | ●     | ●   | ●                     | Q | ●   | Q
  ApiKey                 | ●   | ●     | ●   | Q C Rotate Revoke D   | Q | ●   | Q
  ProjectApp             | ●   | ●     | ●   | ●                     | Q | ●   | Q
  SigningKey             | ●   | ●     | ●   | Q                     | Q | ●   | Q
  WebhookSubscription    | ●   | ●     | ●   | ●                     | Q | ●   | Q
  WebhookDelivery        | ●   | ●     | ●   | ●                     | – | ●   | –
  AuditLog               | ●   | ●     | ●   | –                     | – | ●   | –
  Event                  | ●   | ●     | ●   | ●                     | – | ●   | –
  Authorization          | ●   | ●     | ●   | ●                     | – | ●   | –
`;

export const letters: Readonly<Record<string, string>> = {
  Q: 'Query',
  C: 'Create',
  U: 'Update',
  D: 'Delete',
};
export const rows = table
  .trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()));

export const permissionsOfNoun = (noun: string): string[] =>
  (actions[noun] ?? '').split(', ').map((action) => `${noun}:${action}`);
export const every = Object.keys(actions).flatMap(permissionsOfNoun);

/** Groups of a role, by name, with the permissions in them, as far as these are declared. */
export function groupsOf(role: number, declared: ReadonlySet<string>): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [noun = '', ...cells] of rows) {
    const cell = cells[role] ?? '';
    const named = cell.split(' ').map((word) => `${noun}:${letters[word] ?? word}`);
    const held = permissionsOfNoun(noun).filter(
      (one) => declared.has(one) && (cell === '●' || named.includes(one)),
    );
    const names = held.map((one) => one.slice(noun.length + 1));
    if (held.length > 0) groups.set(`${noun}: ${names.join(', ')}`, held);
  }
  return groups;
}

export const idOf = (kind: string, name: string): string => v5(`doorward:${kind}:${name}`, v5.URL);

/** A built-in role as it should be, with its ids. */
export const expectedRole = (index: number, declared: ReadonlySet<string>) => {
  const [name = '', level = ''] = roles[index] ?? [];
  const groups = [...groupsOf(index, declared)].map(([group, permissions]) => ({
    id: idOf('group', group),
    name: group,
    permissions: permissions.map((one) => ({ id: idOf('permission', one), name: one })).sort(byName),
  }));
  return { id: idOf('role', name), name, level, groups: groups.sort(byName) };
};
export const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
export const roleIndexes = roles.map(([name], index) => [name, index] as const);
