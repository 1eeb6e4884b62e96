import type { HeldPermission } from '../evaluate.ts';

/** Built-in resources of an organization itself. Permissions on them have no effect in a project (authorization §3). */
export const organizationNouns: ReadonlySet<string> = new Set([
  'Organization',
  'OrganizationInvitation',
  'OrganizationDomain',
  'OrganizationConnection',
  'OrganizationMember',
]);

/** Whether a permission has effect in projects. */
export const hasEffectInProject = ({
  managementPlane,
  resource,
}: Pick<HeldPermission['permission'], 'managementPlane' | 'resource'>): boolean =>
  !(managementPlane && organizationNouns.has(resource));
