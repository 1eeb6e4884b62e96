import { targetOf } from './document.ts';
import type { Members, PolicyDocument } from './document.ts';

type Row = Readonly<Record<string, unknown>>;
type Rows = Readonly<Record<string, Row>>;

const resource: Row = {
  description: null,
  actions: ['query', 'read', 'create', 'update', 'delete'],
  isActive: true,
  metadata: {},
  tags: [],
  protect: false,
};
const permission: Row = { description: null, condition: null, metadata: {}, tags: [], protect: false };
const group: Row = { description: null, permissions: [], metadata: {}, tags: [], protect: false };
const role: Row = { description: null, groups: [], metadata: {}, tags: [], protect: false };
const tag: Row = { color: 'gray', metadata: {}, protect: false };
const app: Row = {
  logoUrl: null,
  homepageUrl: null,
  primaryColor: null,
  postLogoutRedirectUris: [],
  backchannelLogoutUri: null,
  scopes: null,
  enabledProviders: ['email'],
  identityProviders: [],
  allowSignUp: false,
  signUpRole: null,
  confidential: false,
  firstParty: false,
  allowedOrigins: [],
  accessTokenProfile: 'doorward',
  idTokenClaims: false,
  resources: [],
  tags: [],
  protect: false,
};
const webhook: Row = { description: null, active: true, protect: false };

/**
 * Completes a parsed file with the default of every member that it leaves out. Does not validate values; the service
 * does.
 */
export function withDefaults(file: Readonly<Record<string, unknown>>): PolicyDocument {
  return mapped(file, (defaults, row) => ({ ...defaults, ...row }));
}

/** The opposite of `withDefaults`: leaves out members that have their default value, so that the file stays short. */
export function withoutDefaults(document: PolicyDocument): Record<string, unknown> {
  const members: Members<PolicyDocument> = document;
  const short = mapped(members, (defaults, row) =>
    Object.fromEntries(Object.entries(row).filter(([name, value]) => !isSame(value, defaults[name]))),
  );
  const isEmpty = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return Object.fromEntries(
    Object.entries(short).filter(
      ([name, value]) => name === 'version' || !(isEmpty(value) || (name === 'mode' && value === 'warn')),
    ),
  );
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function mapped(
  document: Readonly<Record<string, unknown>>,
  map: (defaults: Row, row: Row) => Row,
): PolicyDocument {
  const each = (part: string, defaultsOf: (key: string) => Row): Rows =>
    Object.fromEntries(
      Object.entries((document[part] ?? {}) as Rows)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, row]) => [key, map(defaultsOf(key), row ?? {})]),
    );
  // The values are not validated here, hence the cast.
  return {
    version: 1,
    mode: document['mode'] ?? 'warn',
    resources: each('resources', (name) => ({ name, ...resource })),
    permissions: each('permissions', (key) => ({ ...targetOf(key), ...permission })),
    groups: each('groups', () => group),
    roles: each('roles', () => role),
    tags: each('tags', () => tag),
    apps: each('apps', () => app),
    webhooks: each('webhooks', () => webhook),
    tests: document['tests'] ?? [],
  } as unknown as PolicyDocument;
}
