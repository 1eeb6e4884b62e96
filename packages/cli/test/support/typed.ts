import type { Command } from '../../src/command.ts';

/** A command line for each command, with arguments and flags that it needs to reach the service. */
const id = '01890000-0000-7000-8000-000000000001';

const valueOfArgument: Readonly<Record<string, string>> = {
  '<subject>': 'me',
  '<permission>': 'order:read',
  '<number>': '1',
  '<from>': '1',
  '<email>': 'ada@example.com',
  '<operation>': 'myPermissions',
  '<user>': id,
  '<delivery>': id,
  '<file>': 'users.jsonl',
};

const flagsOf: Readonly<Record<string, readonly string[]>> = {
  'keys create': ['--name', 'x'],
  'keys revoke': ['--reason', 'a reason'],
  'operator add': ['--reason', 'a reason that is long enough'],
  'operator remove': ['--reason', 'a reason that is long enough'],
  'users create': ['--set', 'name=x'],
  'users set-roles': [id],
};

/** What a command that is no question of the service does where none is. */
export const withoutService: Readonly<Record<string, readonly string[]>> = {
  logout: [],
  'profile list': [],
  'profile use': ['nowhere'],
  'profile set': ['work', '--url', 'https://access.example.com'],
  'profile remove': ['nowhere'],
  start: ['--port', 'x'],
  migrate: ['--check', '--status'],
  'audit verify': ['/nowhere'],
  completion: ['bash'],
  __complete: [''],
};

/** They wait until the service answers. */
export const patient: readonly string[] = ['events tail'];

/** Needs a person, or asks without a credential. */
export const withoutCredential: readonly string[] = ['login', 'doctor'];

export const nameOf = ({ path }: Command): string => path.join(' ');

export function typed(command: Command): string[] {
  const name = nameOf(command);
  const own = withoutService[name];
  if (own) return [...command.path, ...own];
  if (name === 'login') return ['login', '--key', '--client-id', 'x'];
  if (name === 'doctor') return ['doctor'];
  const given = Object.keys(command.arguments ?? {})
    .filter((argument) => argument.startsWith('<'))
    .map((argument) => (command.path[0] === 'permissions' ? id : (valueOfArgument[argument] ?? id)));
  const verb = command.path.at(-1);
  const set = (verb === 'create' || verb === 'update') && command.options?.['--set <name=value...>'];
  return [
    ...command.path,
    ...given,
    ...(flagsOf[name] ?? (set ? ['--set', `${fieldOf(command)}`] : [])),
    ...(isConfirmed(name) ? ['--yes'] : []),
  ];
}

/** A field that each of these has. */
function fieldOf({ path: [word] }: Command): string {
  if (word === 'members') return `roleId=${id}`;
  if (word === 'webhooks') return 'url=https://example.com/hook';
  if (word === 'permissions') return 'description=x';
  return 'name=x';
}

const isConfirmed = (name: string): boolean =>
  / (delete|remove|revoke|rotate|rotate-secret|apply|rollback|set-roles|replay|update|add)$/.test(name);
