import { check } from './access/check.ts';
import { explain } from './access/explain.ts';
import { effectivePermissions } from './access/permissions.ts';
import { whoCan } from './access/who-can.ts';
import { eventsTail } from './audit/events-tail.ts';
import { auditExport } from './audit/export.ts';
import { auditVerify } from './audit/verify.ts';
import type { Command } from './command.ts';
import { doctor } from './installation/doctor.ts';
import { migrate } from './installation/migrate.ts';
import { start } from './installation/start.ts';
import { connectionCommands } from './nouns/commands/connection-commands.ts';
import { domainCommands } from './nouns/commands/domain-commands.ts';
import { keyCommands } from './nouns/commands/key-commands.ts';
import { commandsOf } from './nouns/commands/noun-commands.ts';
import { allNouns } from './nouns/nouns.ts';
import { userCommands } from './nouns/commands/user-commands.ts';
import { webhookCommands } from './nouns/commands/webhook-commands.ts';
import { policyCommands } from './policy/policy-commands.ts';
import { operatorCommands } from './operators/operator-commands.ts';
import { usersImport } from './user-import/users-import.ts';
import { login } from './session/login.ts';
import { logout } from './session/logout.ts';
import { profileCommands } from './session/profile-commands.ts';
import { whoami } from './session/whoami.ts';
import { api } from './shell/api.ts';
import { completionCommands } from './shell/completion.ts';

/** Commands of nouns that aren't derived from the declaration of the noun. */
const underivedCommands: readonly Command[] = [
  ...[...keyCommands, ...userCommands, usersImport],
  ...[...domainCommands, ...connectionCommands, ...webhookCommands],
];

/** All commands, in the order in which the help lists them. */
export const commands: readonly Command[] = [
  ...[login, logout, whoami, ...profileCommands],
  ...[check, explain, whoCan, effectivePermissions],
  ...policyCommands,
  ...allNouns.flatMap((noun) => [
    ...commandsOf(noun),
    ...underivedCommands.filter(({ path }) => path[0] === noun.word),
  ]),
  ...[start, migrate, doctor],
  ...operatorCommands,
  ...[auditExport, auditVerify, eventsTail, api],
  ...completionCommands(() => commands),
];

/** Summaries of words that only group other commands. */
export const groups: Readonly<Record<string, string>> = {
  profile: 'Addresses, scopes and sign-ins of this computer',
  policy: 'The rights model of a project as a document',
  operator: 'Who operates the installation',
  audit: 'The audit log: export it, prove it',
  events: 'What happens in the scope',
  ...Object.fromEntries(allNouns.map(({ word, summary }) => [word, summary])),
};
