/** The tenants that a console URL can name: `/console/<tenant>/<id>/…`. */
export const tenants = [
  'account',
  'organization',
  'accountProject',
  'organizationProject',
  'installation',
] as const;
export type Tenant = (typeof tenants)[number];

export interface Scope {
  readonly tenant: Tenant;
  /** A UUID. For a project: the UUIDs of owner and project, joined by a colon. */
  readonly id: string;
}

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const forms: Readonly<Record<Tenant, RegExp>> = {
  account: new RegExp(`^${uuid}$`),
  organization: new RegExp(`^${uuid}$`),
  accountProject: new RegExp(`^${uuid}:${uuid}$`),
  organizationProject: new RegExp(`^${uuid}:${uuid}$`),
  installation: /^0{8}(?:-0{4}){3}-0{12}$/,
};

/** The scope of the installation, which operators manage. A service has exactly one. */
export const installation: Scope = {
  tenant: 'installation',
  id: '00000000-0000-0000-0000-000000000000',
};

/** Returns the scope that a URL names; null if tenant or id is invalid. */
export function scopeOf(tenant: string, id: string): Scope | null {
  const existing = tenants.find((name) => name === tenant);
  return existing && forms[existing].test(id) ? { tenant: existing, id } : null;
}

export const isProject = ({ tenant }: Scope): boolean =>
  tenant === 'accountProject' || tenant === 'organizationProject';

/** Returns the owner of a project; null for other scopes. */
export function ownerOf({ tenant, id }: Scope): Scope | null {
  const [ownerId = ''] = id.split(':');
  if (tenant === 'accountProject') return { tenant: 'account', id: ownerId };
  if (tenant === 'organizationProject') return { tenant: 'organization', id: ownerId };
  return null;
}

/** Returns the id of the account, organization or project itself, without its owner. */
export const idOf = ({ id }: Scope): string => id.split(':').at(-1) ?? id;

export const keyOf = ({ tenant, id }: Scope): string => `${tenant}/${id}`;

export const isSameScope = (a: Scope, b: Scope): boolean => keyOf(a) === keyOf(b);
