import { ConfigError } from '../contracts/errors.ts';
import type { Scope, Tenant } from '../contracts/types.ts';

const uuid = '[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}';
const single = new RegExp(`^${uuid}$`);
const pair = new RegExp(`^${uuid}:${uuid}$`);

const forms: Readonly<Record<Tenant, RegExp>> = {
  account: single,
  organization: single,
  accountProject: pair,
  organizationProject: pair,
  projectUser: pair,
  installation: single,
};

/** Accepts `OrganizationProject` and `organizationProject` alike (conventions §6). */
function tenantOf(text: unknown): Tenant | undefined {
  if (typeof text !== 'string') return undefined;
  const name = text.charAt(0).toLowerCase() + text.slice(1);
  return Object.hasOwn(forms, name) ? (name as Tenant) : undefined;
}

/** Reads a scope; undefined if the value is not a scope. */
export function scopeOf(value: unknown): Scope | undefined {
  const { tenant, id } = (value ?? {}) as Record<string, unknown>;
  const name = tenantOf(tenant);
  return name && typeof id === 'string' && forms[name].test(id)
    ? { tenant: name, id: id.toLowerCase() }
    : undefined;
}

/**
 * Whether a token with the scope `ofToken` belongs to the project `project`, by the same rule as the service: a user's
 * key belongs to the project itself, and a customer's token only to that customer's scope.
 */
export function isOfProject(ofToken: Scope, project: Scope): boolean {
  if (ofToken.tenant === 'projectUser') return ofToken.id.split(':')[0] === project.id.split(':')[1];
  return ofToken.tenant === project.tenant && ofToken.id === project.id;
}

/** Parses `<tenant>:<id>`, the format of DOORWARD_SCOPE. */
export function parseScope(text: string): Scope | undefined {
  const colon = text.indexOf(':');
  return scopeOf({ tenant: text.slice(0, colon), id: text.slice(colon + 1) });
}

/**
 * The scope from the option or, without it, from DOORWARD_SCOPE; null if neither is set.
 *
 * @throws ConfigError if it is not a scope
 */
export function scopeOption(value: unknown, fromEnvironment: string | undefined): Scope | null {
  const scope = value === undefined && fromEnvironment ? parseScope(fromEnvironment) : scopeOf(value);
  if (scope) return scope;
  if (value === undefined && !fromEnvironment) return null;
  throw new ConfigError(
    '`scope` is not a scope.',
    ['scope'],
    "Give { tenant: 'organizationProject', id: '<organization id>:<project id>' }, or DOORWARD_SCOPE=<tenant>:<id>.",
  );
}
