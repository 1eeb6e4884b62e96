/**
 * A policy document: the rights model, the apps and the webhooks of a project, as a file. Rows refer to each other by
 * key. The key of a resource is its slug, the key of any other row is its name. Built-in permissions and groups are
 * referred to by their own names (`Tag:Query`, `Project: Query, Update`).
 *
 * This type is the complete form: members that the file leaves out have their defaults.
 */
export interface PolicyDocument {
  readonly version: 1;
  /** What happens to manual changes of rows in the document: `warn` shows them as drift, `lock` refuses them. */
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
  /** While true, a document cannot delete the row, and callers cannot change or delete it by hand. */
  readonly protect: boolean;
}

interface Common extends Managed {
  readonly metadata: Readonly<Record<string, unknown>>;
}

interface Described extends Common {
  readonly description: string | null;
  readonly tags: readonly string[];
}

/** The key of a resource is its slug. */
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

/** An app that users sign in to. The document does not contain its client id and secret. */
export interface AppInDocument extends Managed {
  readonly logoUrl: string | null;
  readonly homepageUrl: string | null;
  readonly primaryColor: string | null;
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  readonly backchannelLogoutUri: string | null;
  /** `resource:action` of permissions in the document, or names of built-in permissions. */
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

/** An endpoint that receives events. The document does not contain its secret. */
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
  /** With `roles`, the document alone decides the test; otherwise a service does. */
  readonly subject?: {
    readonly roles?: readonly string[];
    readonly attributes?: Readonly<Record<string, unknown>>;
    readonly userId?: string;
  };
  readonly expect: { readonly authorized: boolean; readonly reason?: string };
}

/**
 * An interface as a record. TypeScript does not treat an interface as a record, so code that maps over members needs
 * this.
 */
export type Members<T> = Pick<T, keyof T>;

/** The kinds of rows, in the order in which they can be created. They are deleted in the opposite order. */
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

/** The rows of a kind, as records whose members can be read by name. */
export function rowsIn(
  document: PolicyDocument,
  kind: DocumentKind,
): Keyed<Readonly<Record<string, unknown>>> {
  const rows: { readonly [K in DocumentKind]: Keyed<Members<PolicyDocument[K][string]>> } = document;
  return rows[kind];
}

/** Whether a resource is built in: the names of built-in resources begin with a capital letter, slugs never do. */
export const isBuiltInNoun = (resource: string): boolean => /^[A-Z]/.test(resource);

/** Splits `resource:action` at the last colon. A name without a colon becomes an action with an empty resource. */
export function targetOf(permission: PolicyTest['permission']): { resource: string; action: string } {
  if (typeof permission !== 'string') return permission;
  const colon = permission.lastIndexOf(':');
  return { resource: permission.slice(0, Math.max(colon, 0)), action: permission.slice(colon + 1) };
}
