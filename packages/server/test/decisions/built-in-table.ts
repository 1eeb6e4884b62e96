import { v5 } from 'uuid';

/**
 * The built-in roles (authorization §4), copied from the contract: what the service derives from its declarations, and
 * what the API returns, must equal this table.
 */
export const actions: Readonly<Record<string, string>> = {
  Organization: 'Query, Create, Update, Delete',
  OrganizationInvitation: 'Query, Create, ResendEmail, Renew, Revoke',
  OrganizationDomain: 'Query, Create, Verify, Delete',
  OrganizationConnection: 'Query, Create, Update, Delete, Test',
  OrganizationMember: 'Query, Update, Remove',
  Project: 'Query, Create, Update, Delete',
  ProjectGrant: 'Query, Create, Update, Accept, Leave, Revoke',
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
  Policy: 'Query, Plan, Apply',
  PolicySnapshot: 'Read',
  Token: 'Introspect',
};

export const roles = [
  ['Account Owner', 'account'],
  ['Organization Owner', 'organization'],
  ['Organization Admin', 'organization'],
  ['Organization Developer', 'organization'],
  ['Organization Viewer', 'organization'],
  ['Project Admin', 'project'],
  ['Project Viewer', 'project'],
  ['Account Onboarding', 'account'],
] as const;

/** ● all actions of the noun, – none, else the letters Q C U D or names; a column for each role. */
const table = `
  Organization           | Q C | Q U D | Q U | Q                     | Q | –   | – | Q C
  OrganizationInvitation | –   | ●     | ●   | Q                     | Q | –   | – | –
  OrganizationDomain     | –   | ●     | ●   | Q                     | Q | –   | – | –
  OrganizationConnection | –   | ●     | Q   | –                     | – | –   | – | –
  OrganizationMember     | –   | ●     | ●   | Q                     | Q | –   | – | –
  Project                | ●   | ●     | ●   | Q C U                 | Q | Q U | Q | Q C
  ProjectGrant           | Q C U Revoke | ● | ● | Q                 | Q | Q   | Q | –
  User                   | ●   | ●     | ●   | Q C U                 | Q | ●   | Q | Q
  Role                   | ●   | ●     | ●   | ●                     | Q | ●   | Q | –
  Group                  | ●   | ●     | ●   | ●                     | Q | ●   | Q | –
  Permission             | ●   | ●     | ●   | ●                     | Q | ●   | Q | –
  Resource               | ●   | ●     | ●   | ●                     | Q | ●   | Q | –
  Tag                    | ●   | ●     | ●   | ●                     | Q | ●   | Q | –
  ApiKey                 | ●   | ●     | ●   | Q C Rotate Revoke D   | Q | ●   | Q | Q
  ProjectApp             | ●   | ●     | ●   | ●                     | Q | ●   | Q | –
  SigningKey             | ●   | ●     | ●   | Q                     | Q | ●   | Q | –
  WebhookSubscription    | ●   | ●     | ●   | ●                     | Q | ●   | Q | –
  WebhookDelivery        | ●   | ●     | ●   | ●                     | – | ●   | – | –
  AuditLog               | ●   | ●     | ●   | –                     | – | ●   | – | –
  Event                  | ●   | ●     | ●   | ●                     | – | ●   | – | –
  Authorization          | ●   | ●     | ●   | ●                     | – | ●   | – | –
  Policy                 | ●   | ●     | ●   | ●                     | Q | ●   | Q | –
  PolicySnapshot         | ●   | ●     | ●   | ●                     | – | ●   | – | –
  Token                  | ●   | ●     | ●   | –                     | – | ●   | – | –
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

/** Groups of a role by name, with their permissions as far as these are declared. */
export function groupsOf(role: number, declared: ReadonlySet<string>): Map<string, string[]> {
  return new Map([...partsOf(role, declared)].map(({ group, permissions }) => [group, permissions]));
}

/** The parts of a role by the names from which their ids are derived. */
const partNames: Readonly<Record<string, string>> = {
  '●': 'manage',
  Q: 'view',
  'Q U': 'edit',
  'Q C U': 'create and edit',
  'Q C U Revoke': 'grant',
  'Q C': 'found',
  'Q U D': 'own',
  'Q C Rotate Revoke D': 'develop',
};

function* partsOf(role: number, declared: ReadonlySet<string>) {
  for (const [noun = '', ...cells] of rows) {
    const cell = cells[role] ?? '';
    const named = cell.split(' ').map((word) => `${noun}:${letters[word] ?? word}`);
    const held = permissionsOfNoun(noun).filter(
      (item) => declared.has(item) && (cell === '●' || named.includes(item)),
    );
    const names = held.map((item) => item.slice(noun.length + 1));
    if (held.length === 0) continue;
    const id = idOf('group', `${noun}/${partNames[cell]}`);
    yield { id, group: `${noun}: ${names.join(', ')}`, permissions: held };
  }
}

export const idOf = (kind: string, name: string): string => v5(`doorward:${kind}:${name}`, v5.URL);

/** A built-in role as the API must return it, with its ids. */
export const expectedRole = (index: number, declared: ReadonlySet<string>) => {
  const [name = '', level = ''] = roles[index] ?? [];
  const groups = [...partsOf(index, declared)].map(({ id, group, permissions }) => ({
    id,
    name: group,
    permissions: permissions
      .map((permission) => ({ id: idOf('permission', permission), name: permission }))
      .sort(byName),
  }));
  return { id: idOf('role', name), name, level, groups: groups.sort(byName) };
};
export const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
export const roleIndexes = roles.map(([name], index) => [name, index] as const);
