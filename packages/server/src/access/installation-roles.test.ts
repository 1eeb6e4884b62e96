import { describe, expect, it } from 'vitest';
import { declaredPermissions, operations } from '../operations.ts';
import { builtIns } from './built-in.ts';
import { evaluate } from '@doorward/decision/evaluate';
import {
  installationPermissions,
  installationRoleIdOf,
  installationRoles,
  isInstallationPermission,
} from './installation-roles.ts';

/** The table of docs/operating/operators.md: `Noun: actions of Operator | of Support | of Auditor`. */
const table = `
  Installation: Query | Query | Query
  InstallationUser: Query Suspend Reactivate EndSessions ResetFactor SendReset Impersonate | Query EndSessions ResetFactor SendReset | Query
  InstallationOrganization: Query Suspend Reactivate | Query | Query
  InstallationProject: Query | Query | Query
  InstallationAccount: Query | Query | Query
  InstallationAudit: Query | | Query
  Operator: Query Create Delete | | Query
`;
const rows = table
  .trim()
  .split('\n')
  .map((line) => {
    const [noun = '', cells = ''] = line.split(':');
    return {
      noun: noun.trim(),
      cells: cells.split('|').map((cell) => cell.trim().split(' ').filter(Boolean)),
    };
  });

describe('the roles of the installation', () => {
  it.each(installationRoles.map(({ name }, index) => [name, index] as const))('%s', (name, index) => {
    const expected = rows.flatMap(({ noun, cells }) =>
      (cells[index] ?? []).map((action) => `${noun}:${action}`),
    );
    expect(installationRoles[index]?.permissions).toEqual(expected);
    const held = installationPermissions([installationRoleIdOf(name)]);
    const allowed = rows
      .flatMap(({ noun, cells }) => (cells[0] ?? []).map((action) => [noun, action] as const))
      .filter(
        ([resource, action]) =>
          evaluate({ membership: 'active', user: null, scope: {}, held }, { resource, action }).authorized,
      )
      .map(([noun, action]) => `${noun}:${action}`);
    expect(allowed).toEqual(expected);
  });

  it('hold every permission that operations of the installation declare', () => {
    const declared = declaredPermissions(operations).filter(isInstallationPermission);
    expect(declared.length).toBeGreaterThan(0);
    expect(declared.filter((name) => !installationRoles[0]?.permissions.includes(name))).toEqual([]);
  });

  it('are no rows that a tenant could see, and hold nothing of a tenant', () => {
    const { permissions, resources, roles } = builtIns(declaredPermissions(operations));
    const nouns = rows.map(({ noun }) => noun);
    expect(permissions.filter(({ name }) => isInstallationPermission(name))).toEqual([]);
    expect(resources.filter(({ slug }) => nouns.includes(slug))).toEqual([]);
    expect(roles.filter(({ name }) => name.startsWith('Installation'))).toEqual([]);
    expect(installationPermissions([roles[0]?.id ?? '']).management.size).toBe(0);
  });
});
