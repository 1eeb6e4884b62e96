import type { Explanation, ExplainedDecision } from '@doorward/node';
import type { Client } from '@doorward/node/client';
import type { Command } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { visible } from '../output/text.ts';
import { scopeText } from '../settings/scope-text.ts';
import { contextOf, contextOption } from './question.ts';
import { permissionOf, subjectArgument, subjectOf } from './subject.ts';

export const explain: Command = {
  path: ['explain'],
  summary: 'Why may a subject do something, or not, and what would change it?',
  description: 'Needs Authorization:Explain. Exit code 0: allowed; 1: refused.',
  arguments: { '<subject>': subjectArgument, '<permission>': '<resource>:<action>' },
  options: contextOption,
  async run(run, [subject = '', permission = ''], options) {
    const { connection, terminal } = run;
    const asked = permissionOf(permission);
    const context = await contextOf(run, options);
    const doorward = await connection.decisions();
    const decision = await doorward.explain(await subjectOf(doorward, subject), asked, context);
    if (terminal.isJson) terminal.json(decision);
    else {
      terminal.raw(`${decision.authorized ? 'allowed' : 'refused'} ${decision.reason} ${visible(asked)}`);
      for (const line of await explanationLines(doorward, decision)) terminal.raw(line);
    }
    return decision.authorized ? exitCodes.done : exitCodes.negative;
  },
};

/** Explains a decision in lines for people, with the commands that would change it. */
export async function explanationLines(
  doorward: Client,
  { explanation, matchedPermission }: Pick<ExplainedDecision, 'explanation' | 'matchedPermission'>,
): Promise<string[]> {
  if (!explanation) return [];
  const { roles, candidates, nearest, unknown, subject } = explanation;
  const lines = [`subject     ${subject.type}:${visible(subject.id)}`];
  lines.push(`roles       ${roles.map(({ name }) => visible(name)).join(', ') || 'none'}`);
  if (matchedPermission) lines.push(`matched     ${visible(matchedPermission.name)} ${matchedPermission.id}`);
  const nameOf = (id: string) => visible(roles.find((role) => role.id === id)?.name ?? id);
  for (const candidate of candidates)
    lines.push(
      `candidate   ${candidate.permissionId} of role ${nameOf(candidate.roleId)}: ${resultOf(candidate)}`,
    );
  if (unknown)
    lines.push(
      `unknown     ${unknown.part}${unknown.nearest ? `, the nearest is ${visible(unknown.nearest)}` : ''}`,
    );
  const assignee =
    subject.type === 'user' && nearest.some(({ kind }) => kind === 'assignRole')
      ? await assigneeOf(doorward, explanation)
      : undefined;
  for (const change of nearest) lines.push(...(await commandsOf(doorward, explanation, change, assignee)));
  return lines;
}

function resultOf({ result, failedAt }: Explanation['candidates'][number]): string {
  if (result !== 'notMet' || !failedAt) return result === 'notMet' ? 'its condition is not met' : result;
  const { operator, path, actual, expected, outcome } = failedAt;
  const present = outcome === 'unknown' ? 'is not known' : `is ${json(actual)}`;
  return `${visible(path)} ${present}, ${visible(operator)} ${json(expected)} is needed`;
}

const json = (value: unknown): string => visible(JSON.stringify(value) ?? 'nothing');

type Change = {
  readonly kind?: unknown;
  readonly roleId?: unknown;
  readonly groupId?: unknown;
  readonly permissionId?: unknown;
  readonly path?: unknown;
  readonly expected?: unknown;
};

/** The user who would be assigned a role. */
interface Assignee {
  /**
   * The user's roles here; null if they aren't a user of the project yet and get their rights from the organization.
   */
  readonly roleIds: readonly string[] | null;
  /** This user runs the command. Users may not change their own roles. */
  readonly isCaller: boolean;
}

async function assigneeOf({ api }: Client, { subject, roles }: Explanation): Promise<Assignee> {
  const me = await api.me({}).catch(() => undefined);
  const isCaller = me?.user.id === subject.id;
  try {
    const user = await api.user({ id: subject.id, relations: ['roles'] });
    return { roleIds: (user.roles ?? []).map(({ id }) => id), isCaller };
  } catch (error) {
    const isMissing = (error as { status?: number }).status === 404;
    // A caller who may not read users gets the roles that the explanation lists.
    return { roleIds: isMissing ? null : roles.map(({ id }) => id), isCaller };
  }
}

/** Turns a suggested change into commands that can be pasted. They keep what the user, role or group already has. */
async function commandsOf(
  { api }: Client,
  { subject, scope }: Explanation,
  change: Change,
  assignee: Assignee | undefined,
): Promise<string[]> {
  const at = `-s ${scopeText(scope as Parameters<typeof scopeText>[0])}`;
  const id = (value: unknown): string => visible(String(value)).replace(/[^\w-]/g, '');
  if (change.kind === 'assignRole' && assignee) {
    const { roleIds, isCaller } = assignee;
    const command =
      roleIds === null
        ? `users create --set userId=${id(subject.id)} --set roleIds=${id(change.roleId)}`
        : `users set-roles ${id(subject.id)} ${[...roleIds, change.roleId].map(id).join(' ')}`;
    const other = '            ask another administrator to run it: you cannot change your own roles';
    return [`change      doorward ${command} ${at}`, ...(isCaller ? [other] : [])];
  }
  if (change.kind === 'addPermissionToGroup') {
    const group = await api
      .group({ id: id(change.groupId), relations: ['permissions'] })
      .catch(() => undefined);
    if (!group?.permissions) return [];
    const ids = [...group.permissions.map((permission) => permission.id), id(change.permissionId)];
    return [
      `change      doorward groups update ${id(change.groupId)} --set permissionIds=${ids.join(',')} ${at}`,
    ];
  }
  if (change.kind === 'setAttribute')
    return [`change      set ${visible(String(change.path))} to ${json(change.expected)}`];
  return [];
}
