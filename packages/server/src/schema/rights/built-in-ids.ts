import { v5 } from 'uuid';

/** Returns the id of a built-in row, which is the same in every installation. */
export const builtInId = (kind: string, name: string): string => v5(`doorward:${kind}:${name}`, v5.URL);

export const roleIdOf = (name: RoleName): string => builtInId('role', name);
export const resourceIdOf = (noun: string): string => builtInId('resource', noun);
export const permissionIdOf = (name: string): string => builtInId('permission', name);
/**
 * The id of the group for a named set of actions on a noun. It depends only on these names, so it stays the same when
 * actions are added to the set.
 */
export const groupIdOf = (noun: string, part: string): string => builtInId('group', `${noun}/${part}`);

/** The built-in roles with their levels (authorization §4). */
export const roleLevels = {
  'Account Owner': 'account',
  'Organization Owner': 'organization',
  'Organization Admin': 'organization',
  'Organization Developer': 'organization',
  'Organization Viewer': 'organization',
  'Project Admin': 'project',
  'Project Viewer': 'project',
  'Account Onboarding': 'account',
} as const;
export type RoleName = keyof typeof roleLevels;

export const ACCOUNT_OWNER = roleIdOf('Account Owner');
export const ORGANIZATION_ADMIN = roleIdOf('Organization Admin');
export const ORGANIZATION_OWNER = roleIdOf('Organization Owner');
