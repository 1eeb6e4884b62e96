import { indexPermissions, type HeldPermission, type PermissionIndex } from '@doorward/decision/evaluate';
import { builtInId } from '../schema/rights/built-in-ids.ts';

const names = ['Installation Operator', 'Installation Support', 'Installation Auditor'] as const;
type InstallationRoleName = (typeof names)[number];

type Actions = readonly string[];
const none: Actions = [];
const Q = ['Query'];

/** The actions of each role, in the order of `names`. */
const matrix: Readonly<Record<string, readonly [operator: Actions, support: Actions, auditor: Actions]>> = {
  Installation: [Q, Q, Q],
  InstallationUser: [
    ['Query', 'Suspend', 'Reactivate', 'EndSessions', 'ResetFactor', 'SendReset', 'Impersonate'],
    ['Query', 'EndSessions', 'ResetFactor', 'SendReset'],
    Q,
  ],
  InstallationOrganization: [['Query', 'Suspend', 'Reactivate'], Q, Q],
  InstallationProject: [Q, Q, Q],
  InstallationAccount: [Q, Q, Q],
  InstallationAudit: [Q, none, Q],
  Operator: [['Query', 'Create', 'Delete'], none, Q],
};

/** Whether the permission is on a noun of the installation, which no tenant role can contain. */
export const isInstallationPermission = (permission: string): boolean =>
  (permission.split(':')[0] ?? '') in matrix;

/** Returns the id of an installation role. */
export const installationRoleIdOf = (name: InstallationRoleName): string => builtInId('role', name);
export const INSTALLATION_OPERATOR = installationRoleIdOf('Installation Operator');

interface InstallationRole {
  readonly id: string;
  readonly name: InstallationRoleName;
  /** Permissions as `Noun:Action`. */
  readonly permissions: readonly string[];
}

/**
 * The three roles of level `installation`, which are assigned to operators (docs/operating/operators.md). They aren't
 * rows of the database, so no tenant can list their permissions, add them to its own role, or offer them as an app
 * scope.
 */
export const installationRoles: readonly InstallationRole[] = names.map((name, index) => ({
  id: installationRoleIdOf(name),
  name,
  permissions: Object.entries(matrix).flatMap(([noun, cells]) =>
    (cells[index] ?? none).map((action) => `${noun}:${action}`),
  ),
}));

const nouns: ReadonlySet<string> = new Set(Object.keys(matrix));

const heldBy = ({ id, name, permissions }: InstallationRole): HeldPermission[] =>
  permissions.map((permission) => {
    const [resource = '', action = ''] = permission.split(':');
    return {
      permission: {
        id: builtInId('permission', permission),
        name: permission,
        resource,
        action,
        managementPlane: true,
      },
      condition: null,
      role: { id, name, metadata: {} },
      group: { id: builtInId('group', `${resource}/${name}`), name: `${resource} of ${name}`, metadata: {} },
    };
  });

/** The permissions of all these roles together. */
export const installationPermissions = (roleIds: readonly string[]): PermissionIndex =>
  indexPermissions(installationRoles.filter(({ id }) => roleIds.includes(id)).flatMap(heldBy), nouns);
