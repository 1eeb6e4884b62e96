/**
 * A policy document: what a project defines of rights, as a file. Rows refer to each other by their keys, which are their
 * names. Built-in permissions and groups are named by their own names (`Tag:Query`, `Project: Query, Update`).
 *
 * This is the complete form: a member that the file leaves out has its default.
 */
export interface PolicyDocument {
  readonly version: 1;
  /** Whether rows of the document can be changed by hand: `warn` shows it as drift, `lock` refuses it. */
  readonly mode: 'warn' | 'lock';
  readonly resources: Keyed<ResourceInDocument>;
  readonly permissions: Keyed<PermissionInDocument>;
  readonly groups: Keyed<GroupInDocument>;
  readonly roles: Keyed<RoleInDocument>;
  readonly tags: Keyed<TagInDocument>;
  readonly apps: Keyed<AppInDocument>;
  readonly webhooks: Keyed<WebhookInDocument>;
  readonly tests: readonly PolicyTest[];
}

export type Keyed<T> = Readonly<Record<string, T>>;

interface Managed {
  /** While this is set, a document cannot delete the row, and callers cannot change or delete it by hand. */
  readonly protect: boolean;
}

interface Common extends Managed {
  readonly metadata: Readonly<Record<string, unknown>>;
}

interface Described extends Common {
  readonly description: string | null;
  readonly tags: readonly string[];
}

/** Its key is its slug. */
export interface ResourceInDocument extends Described {
  readonly name: string;
  readonly actions: readonly string[];
  readonly isActive: boolean;
}

export interface PermissionInDocument extends Described {
  readonly resource: string;
  readonly action: string;
  readonly condition: Readonly<Record<string, unknown>> | null;
}

export interface GroupInDocument extends Described {
  readonly permissions: readonly string[];
}

export interface RoleInDocument extends Described {
  readonly groups: readonly string[];
}

export interface TagInDocument extends Common {
  readonly color: string;
}

/** An app to which users sign in. Its client id and its secret are not in the document. */
export interface AppInDocument extends Managed {
  readonly logoUrl: string | null;
  readonly homepageUrl: string | null;
  readonly primaryColor: string | null;
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  readonly backchannelLogoutUri: string | null;
  /** `resource:action` of permissions of the document, or names of built-in ones. */
  readonly scopes: readonly string[] | null;
  readonly enabledProviders: readonly string[];
  readonly identityProviders: readonly string[];
  readonly allowSignUp: boolean;
  readonly signUpRole: string | null;
  readonly confidential: boolean;
  readonly firstParty: boolean;
  readonly allowedOrigins: readonly string[];
  readonly accessTokenProfile: string;
  readonly idTokenClaims: boolean;
  readonly resources: readonly string[];
  readonly tags: readonly string[];
}

/** Where events are sent. Its secret is not in the document. */
export interface WebhookInDocument extends Managed {
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly description: string | null;
  readonly active: boolean;
}

/** A question with the expected answer. */
export interface PolicyTest {
  readonly name: string;
  readonly permission: string | { readonly resource: string; readonly action: string };
  readonly context?: { readonly resource?: Readonly<Record<string, unknown>> };
  /** With roles: decided by the document alone. Else a service is asked. */
  readonly subject?: {
    readonly roles?: readonly string[];
    readonly attributes?: Readonly<Record<string, unknown>>;
    readonly userId?: string;
  };
  readonly expect: { readonly authorized: boolean; readonly reason?: string };
}

/** Its members by name: for the compiler, an interface is not a record, and what maps its members is one. */
export type Members<T> = Pick<T, keyof T>;

/** The kinds of rows, in the order in which they can be created; deleted in the opposite order. */
export const documentKinds = [
  'tags',
  'resources',
  'permissions',
  'groups',
  'roles',
  'apps',
  'webhooks',
] as const;
export type DocumentKind = (typeof documentKinds)[number];

/** The rows of a kind, for code that reads the members of every kind by their names. */
export function rowsIn(
  document: PolicyDocument,
  kind: DocumentKind,
): Keyed<Readonly<Record<string, unknown>>> {
  const rows: { readonly [K in DocumentKind]: Keyed<Members<PolicyDocument[K][string]>> } = document;
  return rows[kind];
}

/** Whether a resource is built in: their names begin with a capital letter, and no slug does. */
export const isBuiltInNoun = (resource: string): boolean => /^[A-Z]/.test(resource);

/** `resource:action` in two parts; a name without a colon is an action without a resource. */
export function targetOf(permission: PolicyTest['permission']): { resource: string; action: string } {
  if (typeof permission !== 'string') return permission;
  const colon = permission.lastIndexOf(':');
  return { resource: permission.slice(0, Math.max(colon, 0)), action: permission.slice(colon + 1) };
}
