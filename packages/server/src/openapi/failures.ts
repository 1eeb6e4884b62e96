import { catalogue, detailMessages, type Code } from '../errors.ts';
import type { Tenant } from '../kernel/scope.ts';
import { takesIdempotencyKey, type NamedOperation } from '../kernel/operation.ts';

/* The error responses of operations. Each set of codes is one component of the document, which operations refer to. */

/** Returns the error codes of an operation: those that it declares, and those that are implied (conventions §4). */
export function codesOf(op: NamedOperation): Code[] {
  const hasBody = op.method !== 'GET' && op.method !== 'DELETE';
  const hasIds = Object.keys(op.input).some(
    (name) => name === 'id' || (/[a-z]Ids?$/.test(name) && name !== 'providerId'),
  );
  const when = (holds: boolean | undefined, ...codes: Code[]) => (holds ? codes : []);
  const codes: Code[] = [
    ...when(op.rate !== 'exempt', 'RATE_LIMITED'),
    'INTERNAL_ERROR',
    'UNAVAILABLE',
    'VALIDATION_ERROR',
    ...when(hasBody, 'PAYLOAD_TOO_LARGE'),
    ...when(hasBody && op.protocol !== 'authzen', 'UNSUPPORTED_MEDIA_TYPE'),
    ...when(op.access !== 'public', 'UNAUTHENTICATED', 'MFA_REQUIRED'),
    ...when(op.scoped, 'SCOPE_REQUIRED'),
    ...when(op.scoped && op.protocol !== 'authzen', 'SCOPE_CONFLICT'),
    ...when(op.scoped, 'TENANT_NOT_ALLOWED'),
    // The id in the path may be malformed.
    ...when(op.protocol === 'authzen', 'NOT_FOUND'),
    ...when(op.scoped, 'FORBIDDEN', 'EMAIL_VERIFICATION_REQUIRED'),
    ...when(concernsTenants(op), 'SUSPENDED'),
    ...when(hasIds, 'NOT_FOUND'),
    ...when('cursor' in op.input, 'INVALID_CURSOR'),
    ...when(op.related !== undefined || op.rate === 'check', 'QUERY_TOO_COMPLEX'),
    ...when(isRefusedByToken(op), 'SESSION_REQUIRED'),
    ...when(op.stepUp, 'STEP_UP_REQUIRED'),
    ...when(op.refusesImpersonation, 'IMPERSONATION_NOT_ALLOWED'),
    ...when(takesIdempotencyKey(op), 'IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED'),
    ...(op.codes ?? []),
  ];
  return [...new Set(codes)];
}

/** Whether the operation fails while its organization is suspended. Access checks don't: they return a reason. */
const concernsTenants = ({ scoped, tenants, admits = [] }: NamedOperation) =>
  scoped && !admits.includes('outsider') && tenants?.some((tenant) => isOfOrganizations.has(tenant));

const isOfOrganizations: ReadonlySet<Tenant> = new Set([
  'organization',
  'organizationProject',
  'projectUser',
]);

/** Whether the operation refuses some kinds of tokens, whatever permissions they have. */
const isRefusedByToken = ({ sessionOnly, access, notForApps, tenants }: NamedOperation) =>
  sessionOnly !== undefined ||
  access === 'session' ||
  notForApps !== undefined ||
  tenants?.includes('installation');

const allCodes = Object.keys(catalogue) as Code[];

/** Returns the codes of an operation by status, in the order of the catalogue. */
function byStatus(op: NamedOperation): [status: number, codes: Code[]][] {
  const own = new Set(codesOf(op));
  const statuses = new Map<number, Code[]>();
  for (const code of allCodes.filter((item) => own.has(item))) {
    const { status } = catalogue[code];
    statuses.set(status, [...(statuses.get(status) ?? []), code]);
  }
  return [...statuses].sort(([a], [b]) => a - b);
}

/** Whether the errors of form requests have a body of their own (RFC 6749). */
const answersForms = ({ takesForm }: NamedOperation): boolean =>
  typeof takesForm === 'object' && takesForm.refusalSchema !== undefined;

/** Names for codes that usually occur together, to make the names of components shorter. */
const groups: readonly (readonly [name: string, codes: readonly Code[]])[] = [
  ['InvalidInScope', ['VALIDATION_ERROR', 'SCOPE_REQUIRED', 'SCOPE_CONFLICT', 'TENANT_NOT_ALLOWED']],
  ['Invalid', ['VALIDATION_ERROR']],
  ['ForbiddenInScope', ['FORBIDDEN', 'SUSPENDED', 'EMAIL_VERIFICATION_REQUIRED', 'MFA_REQUIRED']],
  ['ForbiddenOutsideOfOrganizations', ['FORBIDDEN', 'EMAIL_VERIFICATION_REQUIRED', 'MFA_REQUIRED']],
];

/**
 * Returns the name of a component.
 * @example InvalidInScope-INVALID_CURSOR
 */
function nameOf(op: NamedOperation, codes: readonly Code[]): string {
  const [group, together] = groups.find(([, all]) => all.every((code) => codes.includes(code))) ?? [];
  const others = codes.filter((code) => !together?.includes(code));
  const form = answersForms(op) ? 'FORM' : op.restAnswers?.refusalSchema && 'STANDARD';
  return [group, ...others, form].filter(Boolean).join('-');
}

/** Returns the error responses of one operation by status, each a reference to a component. */
export const failures = (op: NamedOperation): Record<string, object> =>
  Object.fromEntries(
    byStatus(op).map(([status, codes]) => [status, { $ref: `#/components/responses/${nameOf(op, codes)}` }]),
  );

/** Returns the components to which `failures` refers, by name. */
export function sharedFailures(
  operations: readonly NamedOperation[],
  formFailure: (op: NamedOperation) => object | undefined,
): Record<string, object> {
  const all = operations.flatMap((op) =>
    byStatus(op).map(([status, codes]) => {
      const own = answersForms(op) || op.restAnswers?.refusalSchema ? formFailure(op) : undefined;
      return [nameOf(op, codes), failureResponse(op, status, codes, own)] as const;
    }),
  );
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const errorRef = { $ref: '#/components/schemas/Error' };

function failureResponse(
  { restAnswers }: NamedOperation,
  status: number,
  codes: readonly Code[],
  inForm: object | undefined,
): object {
  const schema = restAnswers?.refusalSchema
    ? inForm
    : inForm
      ? { anyOf: [errorRef, inForm], description: 'The first for a JSON request, the second for a form.' }
      : errorRef;
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }] as const);
  return {
    description: codes.map((code) => `\`${code}\` ${catalogue[code].message}`).join(' · '),
    'x-codes': codes,
    headers: headersOf(status),
    content: {
      'application/json': {
        schema,
        ...(!restAnswers?.refusalSchema && { examples: Object.fromEntries(examples) }),
      },
    },
  };
}

function headersOf(status: number): object {
  const names = [
    'X-Request-Id',
    'Content-Language',
    ...(status === 401 ? ['WWW-Authenticate'] : []),
    ...(status === 429 || status === 503 ? ['Retry-After'] : []),
    ...(status === 429 ? ['RateLimit', 'RateLimit-Policy'] : []),
  ];
  return headerRefs(names);
}

/** Returns the headers of a response, each a reference to its component. */
export const headerRefs = (names: readonly string[]): Record<string, object> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Example values for the placeholders in messages. */
const placeholderExamples: Readonly<Record<string, string>> = {
  place: '`scope` in the body',
  tenant: 'projectUser',
  type: 'organization',
  limit: 'its depth is above 10',
  state: 'revoked',
  seconds: '30',
};

/** Returns an example body for each code. */
export function errorExamples(): Record<Code, object> {
  const details = [{ path: 'name', message: detailMessages.required, code: 'required' }];
  const examples = allCodes.map((code) => {
    const { message } = catalogue[code];
    const value = {
      error: message.replace(/\{(\w+)\}/g, (hole, name: string) => placeholderExamples[name] ?? hole),
      code,
      requestId: '0190b6f0-0000-7000-8000-00000000000f',
      ...(code === 'VALIDATION_ERROR' && { details }),
      ...(code === 'FORBIDDEN' && { reason: 'NO_PERMISSION' }),
    };
    return [code, { summary: code, value }] as const;
  });
  return Object.fromEntries(examples) as Record<Code, object>;
}
