import type { FormField, Values } from './form-field.ts';

/** The form of a row with a role that an address proposes for it: `?give=` and the id of the role. */
export function withRole(fields: readonly FormField[], roleId: string | undefined): Values | undefined {
  const field = fields.find(
    ({ kind, name }) => (kind === 'rows' || kind === 'row') && /^roleIds?$/.test(name),
  );
  if (roleId === undefined || !field) return undefined;
  if (field.kind === 'row') return { [field.name]: roleId };
  const held = Array.isArray(field.initial) ? (field.initial as readonly string[]) : [];
  return { [field.name]: [...new Set([roleId, ...held])] };
}
