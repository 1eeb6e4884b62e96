import type { DecisionReason } from '@doorward/decision/reasons';

/**
 * The catalogue of errors: code → HTTP status and English message. `params` fill the `{placeholders}` of a message;
 * translations are in `i18n/`. A code that is not in the catalogue does not compile.
 *
 * @example throw fail('INVALID_STATE', { params: { state: 'revoked' } });
 */
export const catalogue = {
  VALIDATION_ERROR: { status: 400, message: 'The request is not valid.' },
  SCOPE_REQUIRED: { status: 400, message: 'A scope is required: send {place}.' },
  SCOPE_CONFLICT: { status: 400, message: 'The request names two different scopes.' },
  TENANT_NOT_ALLOWED: { status: 400, message: 'This operation does not work on the tenant {tenant}.' },
  ACCOUNT_TYPE_MISMATCH: { status: 400, message: 'This needs an account of type {type}.' },
  ROLE_REQUIRED: { status: 400, message: 'Name a role: no default can be derived.' },
  INVALID_CONDITION: { status: 400, message: 'The condition is not valid.' },
  INVALID_CURSOR: { status: 400, message: 'The cursor is not valid here.' },
  INVALID_TOKEN: { status: 400, message: 'The token or code is not valid or no longer valid.' },
  INVALID_REDIRECT_URI: { status: 400, message: 'The redirect address is not allowed.' },
  WEBHOOK_URL_NOT_ALLOWED: { status: 400, message: 'The webhook address is not allowed.' },
  QUERY_TOO_COMPLEX: { status: 400, message: 'The query is too complex: {limit}.' },
  // Clients recognize this message and then send the whole document.
  PERSISTED_QUERY_NOT_SUPPORTED: { status: 200, message: 'PersistedQueryNotSupported' },
  GRAPHQL_PARSE_FAILED: { status: 400, message: 'The GraphQL document cannot be parsed.' },
  GRAPHQL_VALIDATION_FAILED: { status: 400, message: 'The GraphQL document does not fit the schema.' },
  UNAUTHENTICATED: { status: 401, message: 'Sign in first, or send valid credentials.' },
  FORBIDDEN: { status: 403, message: 'You may not do this.' },
  SUSPENDED: { status: 403, message: 'This organization is suspended.' },
  SESSION_REQUIRED: { status: 403, message: 'This needs a signed-in user, not a key or app token.' },
  EMAIL_VERIFICATION_REQUIRED: { status: 403, message: 'Verify your e-mail address first.' },
  MFA_REQUIRED: { status: 403, message: 'Confirm with your second factor first.' },
  SSO_REQUIRED: { status: 403, message: 'Sign in through your organization first.' },
  STEP_UP_REQUIRED: { status: 403, message: 'Sign in again to do this.' },
  IMPERSONATION_NOT_ALLOWED: { status: 403, message: 'Not possible while acting for another user.' },
  PRIVILEGE_ESCALATION: {
    status: 403,
    message: 'You cannot give or take permissions that you do not hold.',
  },
  SYSTEM_ENTITY: { status: 403, message: 'Built-in entries cannot be changed.' },
  ORIGIN_NOT_ALLOWED: { status: 403, message: 'This origin may not use the session cookie.' },
  NOT_FOUND: { status: 404, message: 'Not found.' },
  PROVIDER_NOT_CONFIGURED: { status: 404, message: 'This sign-in provider is not configured.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This method is not allowed here.' },
  CONFLICT: { status: 409, message: 'This already exists.' },
  INVALID_STATE: { status: 409, message: 'Not possible in the state {state}.' },
  IN_USE: { status: 409, message: 'Still in use.' },
  LAST_OWNER: { status: 409, message: 'An organization needs at least one owner.' },
  LAST_SIGN_IN_METHOD: { status: 409, message: 'The last verified sign-in method cannot be removed.' },
  ROTATION_IN_PROGRESS: {
    status: 409,
    message: 'The previous secret is still valid; use force to end it.',
  },
  DELETION_NOT_ALLOWED: { status: 409, message: 'This may not be deleted.' },
  SNAPSHOT_TOO_LARGE: { status: 409, message: 'The policy snapshot would be too large: {limit}.' },
  IDEMPOTENCY_IN_PROGRESS: { status: 409, message: 'A request with this key is still running.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The request is too large.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'Send application/json.' },
  MISDIRECTED_REQUEST: { status: 421, message: 'This host is not served here.' },
  POLICY_TEST_FAILED: { status: 422, message: 'A test of the policy failed.' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, message: 'This key was used for another request.' },
  RATE_LIMITED: { status: 429, message: 'Too many requests; retry in {seconds} seconds.' },
  INTERNAL_ERROR: { status: 500, message: 'Something went wrong.' },
  UNAVAILABLE: { status: 503, message: 'Temporarily not available.' },
} as const satisfies Record<string, { status: number; message: string }>;

/** A code of the catalogue. REST and GraphQL use the same codes. */
export type Code = keyof typeof catalogue;

type Placeholders<M extends string> = M extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** The names of the placeholders in the message of a code. */
type PlaceholdersOf<C extends Code> = Placeholders<(typeof catalogue)[C]['message']>;

/** English messages of the detail codes, each about one field of the input. */
export const detailMessages = {
  required: 'This field is required.',
  unknown_field: 'This field is not known.',
  type: 'This has the wrong type.',
  enum: 'This is not one of the allowed values.',
  format: 'This has the wrong format.',
  duplicate: 'This was given twice.',
  not_allowed: 'This is not allowed here.',
  excluded: 'This cannot be combined with another field of the request.',
  too_short: 'This is too short.',
  too_long: 'This is too long.',
  too_small: 'This is too small.',
  too_big: 'This is too big.',
  too_deep: 'This is nested too deeply.',
  in_past: 'This must lie in the future.',
  too_far: 'This lies too far in the future.',
  malformed_json: 'The body is not valid JSON.',
  empty_body: 'A JSON object is needed in the body.',
  taken: 'This is already taken.',
  ambiguous: 'Several rows have this name.',
  changed: 'This has changed since.',
  test: 'This test failed.',
  in_use: 'This is still in use.',
  password_too_common: 'This password is too common.',
  password_contains_identity: 'The password must not contain your name, your address or the product name.',
  password_unchanged: 'The new password must differ from the old one.',
  operator: 'This operator is not known.',
  path: 'This path is not valid.',
  operand: 'This operand does not fit the operator.',
  empty: 'This must not be empty.',
  limit: 'This exceeds a limit of conditions.',
  permission: 'You do not hold this permission.',
  scheme: 'Use https.',
  credentials: 'Take user name and password out of the address.',
  port: 'Use port 443, 80, or one above 1023 that belongs to no database or file server.',
  private_address: 'Use a host whose addresses are all public.',
} as const;

/** A code of `details[].code`. */
export type DetailCode = keyof typeof detailMessages;

/** One fault in one field of the input. Never contains the value itself. */
export interface Detail {
  /** Dotted path into the input (`scope.id`, `groupIds.3`). */
  readonly path: string;
  readonly code: DetailCode;
}

interface Extras {
  readonly details?: readonly Detail[];
  /** One English sentence that says what the caller can do. */
  readonly fix?: string;
  readonly reason?: DecisionReason;
  /** Response headers that belong to the error (`Retry-After`, `Allow`, `WWW-Authenticate`). */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only; never part of a response. */
  readonly cause?: unknown;
}

/** The options of `fail`: `params` are required exactly if the message has placeholders. */
type FailOptions<C extends Code> = Extras &
  ([PlaceholdersOf<C>] extends [never]
    ? object
    : { readonly params: Readonly<Record<PlaceholdersOf<C>, string | number>> });

/** An error that the caller may see; any other thrown error becomes INTERNAL_ERROR. */
export class DoorwardError extends Error {
  override readonly name = 'DoorwardError';
  readonly code: Code;
  readonly params: Readonly<Record<string, string | number>>;
  readonly extras: Extras;

  constructor(code: Code, extras: Extras & { params?: Readonly<Record<string, string | number>> }) {
    super(code, { cause: extras.cause });
    this.code = code;
    this.params = extras.params ?? {};
    this.extras = extras;
  }

  get status(): number {
    return catalogue[this.code].status;
  }

  /** Whether the log must explain the error. Refusing work under overload is not a fault. */
  get isFault(): boolean {
    return this.status >= 500 && (this.code !== 'UNAVAILABLE' || this.extras.cause !== undefined);
  }
}

/** Creates the error of a code. The caller throws it, so that the control flow stays visible. */
export function fail<C extends Code>(
  code: C,
  ...rest: [PlaceholdersOf<C>] extends [never] ? [options?: FailOptions<C>] : [options: FailOptions<C>]
): DoorwardError {
  return new DoorwardError(code, rest[0] ?? {});
}
