/**
 * Returns a function that tells whether a permission such as `Role:Create` is in a list from the service. Permissions
 * under a condition count too.
 */
export function canOf(
  permissions: readonly { readonly resource: string; readonly action: string }[] = [],
): (permission: string) => boolean {
  const held = new Set(permissions.map(({ resource, action }) => `${resource}:${action}`));
  return (permission) => held.has(permission);
}
