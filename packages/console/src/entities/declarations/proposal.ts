import type { FormField, Values } from './form-field.ts';

/**
 * Returns form values with the role that the URL proposes with `?give=<role id>`. A field for several roles keeps the
 * others; in a field for one role it replaces the current one. Undefined without a proposal or such a field.
 */
export function withRole(fields: readonly FormField[], roleId: string | undefined): Values | undefined {
  const field = fields.find(
    ({ kind, name }) => (kind === 'rows' || kind === 'row') && /^roleIds?$/.test(name),
  );
  if (roleId === undefined || !field) return undefined;
  if (field.kind === 'row') return { [field.name]: roleId };
  const current = Array.isArray(field.initial) ? (field.initial as readonly string[]) : [];
  return { [field.name]: [...new Set([roleId, ...current])] };
}
