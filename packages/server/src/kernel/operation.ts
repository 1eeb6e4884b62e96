import { z } from 'zod';
import type { Code, DoorwardError } from '../errors.ts';
import type { Call, Context, Principal } from './context.ts';
import type { AnyEntity } from './entity.ts';
import { nounOfRelations } from './input/inputs.ts';
import type { BareReply, Refusal } from './output/reply.ts';
import type { ScopeInput, Tenant } from './scope.ts';

/*
 * One operation is one literal. REST, GraphQL, OpenAPI, the guard, the audit entry, the built-in permissions and the
 * reference are derived from it. The name of its export is the name of the operation: its GraphQL field, operationId
 * and audit name.
 */

/** `Noun:Action`: this permission in the scope. `session`: any signed-in user. `any`: any valid token. */
type Access = 'public' | 'session' | 'any' | `${string}:${string}`;
export type WhileImpersonating = 'allowed' | 'refused';
type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
/** A limit belongs to the operation, not to the path: both transports count in the same class. */
export const rateClasses = ['general', 'auth', 'refresh', 'exchange', 'check', 'mail', 'export'] as const;
export type RateClass = (typeof rateClasses)[number];

/**
 * Callers that an operation admits although other operations refuse them:
 * - `self`: the signed-in user that `userId` names, even without the permission (to leave)
 * - `pending-mfa`: a session whose second factor is pending
 * - `bound-session`: a session bound to an organization, in a call without a scope; others admit it only in its scope
 * - `suspended-member`, `suspended-owner`: members or owners of a suspended organization, in its projects too
 *   (docs/operating/operators.md)
 * - `outsider`: a caller without access to the scope, who gets the answer "not authorized", not an error (isAuthorized)
 * - `project-owner`: a caller with `Authorization:Check` in a project, in the scopes of customers with a grant of it
 */
type Admitted =
  | 'self'
  | 'pending-mfa'
  | 'bound-session'
  | 'suspended-member'
  | 'suspended-owner'
  | 'outsider'
  | 'project-owner';

interface Limit<S, I> {
  readonly class: RateClass;
  /** The key to count by; `null`: not counted, `''`: the caller's credential or network. */
  readonly key: (input: I, call: Call, services: S) => string | null;
  /** How many calls this call counts as; 1 by default. */
  readonly points?: (input: I) => number;
}

/**
 * A standard whose requests differ from ours in format: OAuth (RFC 6749 §3.2), authorization requests (RFC 6749 §3.1),
 * AuthZEN, and proxies that ask before they forward a request. The adapters are in `rest/protocols`.
 */
export type Protocol = 'oauth' | 'oauth-authorization' | 'authzen' | 'forward-auth';

/** Answers of REST that differ from those of GraphQL. */
interface RestAnswers<O = unknown> {
  /** The default is the output with `status`. */
  readonly answer?: (output: O) => { readonly status?: number; readonly data: unknown };
  /** Schemas of this `data`, by status. */
  readonly answerSchemas?: Readonly<Record<number, z.ZodType>>;
  /** Formats an error as a standard requires, instead of in the envelope. */
  readonly refusal?: (error: DoorwardError) => BareReply;
  readonly refusalSchema?: z.ZodType;
}

/** Answers to a form post: a redirect for a browser, an answer of RFC 6749 for an OAuth client. */
export interface FormAnswers<O = unknown> {
  readonly answer: (output: O) => BareReply;
  readonly refusal?: (error: DoorwardError) => BareReply | undefined;
  readonly answerSchema?: z.ZodType;
  readonly refusalSchema?: z.ZodType;
}

export type Shape = z.ZodRawShape;
export type InputOf<I extends Shape> = z.output<z.ZodObject<I, z.core.$strict>>;
/** The parsed input of an operation, for code that handles every operation. */
export type CallInput = Record<string, unknown> & { readonly scope?: ScopeInput };

type Answer<O extends z.ZodType> = z.output<O> | BareReply | Refusal;

export interface Declaration<
  S,
  I extends Shape = Shape,
  O extends z.ZodType = z.ZodType,
  P = unknown,
  T extends AnyEntity | undefined = AnyEntity | undefined,
> {
  /** Method and path below `/api`; a path that starts with `~/` is at the root. */
  readonly rest: `${Method} ${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** Needs a session token in addition to the permission (authorization §9). A function decides for each call. */
  readonly sessionOnly?: true | ((input: InputOf<I>, principal: Principal) => boolean);
  /** Callers that the operation would refuse otherwise. */
  readonly admits?: readonly Admitted[];
  /**
   * Whether an operator of the installation may call the operation for a user. Use `refused` for credentials, factors,
   * new keys, members and users, project grants, the deletion of organizations and projects, and the installation
   * itself. The default is `refused` for a mutation and `allowed` for a query.
   */
  readonly whileImpersonating?: WhileImpersonating;
  /** The kinds of scopes that the operation accepts; required if the input has a `scope`. */
  readonly tenants?: readonly Tenant[];
  /** A pinned token may leave the scope out (authorization §10). */
  readonly scopeOptional?: boolean;
  readonly input: I;
  readonly output: O;
  /** 302 and 303: every answer is a `redirect`. 204: no answer has a body. */
  readonly status?: 200 | 201 | 202 | 204 | 302 | 303;
  readonly only?: 'rest';
  /** Also takes a form as body, for pages without script. `FormAnswers`: how the answers differ from those to JSON. */
  readonly takesForm?: true | FormAnswers<z.output<O>>;
  /** The standard that defines the format of the requests. */
  readonly protocol?: Protocol;
  readonly restAnswers?: RestAnswers<z.output<O>>;
  /** Browsers are redirected here: a request that accepts HTML gets errors as a page. */
  readonly forBrowsers?: true;
  /**
   * Origins whose pages may read the answers. Absent: the origins that the operator configured. Three values allow more
   * origins, but without a cookie: `any` allows every origin, `app` the origins of the token's app, and `client` the
   * origins of the app that `client_id` names. `none`: no origin, not even a configured origin.
   */
  readonly cors?: 'any' | 'app' | 'client' | 'none';
  /** Members that are returned once. In the stored answer, and so in an idempotent replay, they are `null`. */
  readonly secrets?: readonly (keyof z.output<O> & string)[];
  /**
   * The member of the answer with its version: REST sends it as ETag, and 304 if the client has this version. `true`:
   * the bare answer sets the header itself.
   */
  readonly etag?: (keyof z.output<O> & string) | true;
  /** Answered without envelope (conventions §2). A list: the media types of an answer that is not JSON. */
  readonly bare?: true | readonly `${string}/${string}`[];
  /** The body limit, for an operation that takes a file. */
  readonly bodyLimitBytes?: number;
  /** The entity that the path names (`:id`): its row is loaded in the scope (404) before conditions are evaluated. */
  readonly target?: T;
  /** The schema of the answer to `dryRun: true`, which checks everything and changes nothing. */
  readonly dryRun?: z.ZodType;
  /** The event of a success; CRUD events take their data from the answer. */
  readonly emits?: string;
  /** Error codes besides those that every operation may answer (conventions §4). */
  readonly codes?: readonly Code[];
  /**
   * The rate limit in addition to `general`; class `check` replaces `general`. `network`: only `general`, counted by
   * network even for signed-in callers. `exempt`: no limit.
   */
  readonly limit?: Limit<S, InputOf<I>> | 'network' | 'exempt';
  /**
   * A query of cached state: it takes no connection, and has no `db` and `tx`. It reads anything else with `read`. A
   * function returns what the call needs besides the rights of the caller: the rights of another user, or rows. A call
   * that needs rows, or rights that are not cached, is admitted like any other call that uses the database.
   */
  readonly fromMemory?:
    true | ((input: InputOf<I>, principal: Principal) => { readonly userId: string } | 'rows' | undefined);
  /**
   * Waits for a change, or for a server that the caller has chosen, perhaps for half a minute. It holds no request slot
   * meanwhile, so that other requests can use the database. A query checks its caller again
   * (`Context.assertStillPermitted`). A function decides for each call.
   */
  readonly waits?: true | ((input: InputOf<I>) => boolean);
  /** If set, app tokens are refused with SESSION_REQUIRED, whatever their scopes. The text is the error's `fix`. */
  readonly notForApps?: string;
  /**
   * How a mutation may change permissions. `none`: not at all, so cached rights stay valid (sign-in, token exchange).
   * `additions`: it may add permissions to a user, directly or through roles. Keys that another user created for this
   * user then end if they have more permissions than their creator. Unless it is `none`, cached rights are invalidated.
   */
  readonly permissionChange?: 'none' | 'additions';
  /** A query whose calls are audited: it runs in the transaction of its audit entry, like a mutation. */
  readonly audited?: true;
  /**
   * Concurrent calls share a transaction, and query it only through `batched`. For public operations with many calls.
   */
  readonly groupCommit?: true | ((input: InputOf<I>) => boolean);
  /** Needs a recent sign-in (identity §6). */
  readonly stepUp?: boolean;
  /** Work before the transaction, because it would hold the transaction open too long: hashing, key generation. */
  readonly prepare?: (ctx: Context<S, I, undefined, T>) => Promise<P>;
  readonly run: (ctx: Context<S, I, P, T>) => Promise<Answer<O>> | Answer<O>;
}

/** A declaration, for code that handles every operation. */
interface Declared<I extends Shape = Shape, O extends z.ZodType = z.ZodType> extends Omit<
  Declaration<unknown, I, O>,
  | 'run'
  | 'prepare'
  | 'limit'
  | 'restAnswers'
  | 'sessionOnly'
  | 'fromMemory'
  | 'waits'
  | 'groupCommit'
  | 'secrets'
  | 'etag'
  | 'takesForm'
> {
  readonly limit?: Limit<unknown, CallInput> | 'network' | 'exempt';
  readonly secrets?: readonly string[];
  readonly etag?: string | true;
  readonly takesForm?: true | FormAnswers;
  readonly restAnswers?: RestAnswers;
  readonly sessionOnly?: true | ((input: CallInput, principal: Principal) => boolean);
  readonly fromMemory?:
    true | ((input: CallInput, principal: Principal) => { readonly userId: string } | 'rows' | undefined);
  readonly waits?: true | ((input: CallInput) => boolean);
  readonly groupCommit?: true | ((input: CallInput) => boolean);
  readonly prepare?: (ctx: never) => Promise<unknown>;
  readonly run: (ctx: never) => unknown;
}

/** A declaration with the members that are derived from it. */
export interface Operation<I extends Shape = Shape, O extends z.ZodType = z.ZodType> extends Omit<
  Declared<I, O>,
  'limit'
> {
  readonly limit?: Limit<unknown, CallInput>;
  readonly kind: 'query' | 'mutation';
  readonly method: Method;
  /** How `general` applies: not at all, by network, or replaced by class `check`. */
  readonly rate: 'exempt' | 'network' | 'check' | undefined;
  /** Full path as routed, e.g. `/api/roles/:id`. */
  readonly path: string;
  /** The parameter in the path: the input field that names the target. */
  readonly pathParameter: string | undefined;
  readonly scoped: boolean;
  /** Whether it refuses an operator who acts for a user. A mutation does so by default. */
  readonly refusesImpersonation: boolean;
  /** The entity whose relations its input may name. */
  readonly related: AnyEntity | undefined;
  /** Whether its input has `minRevision`: the answer is then from a state at least as new. */
  readonly takesRevision: boolean;
  /** `Role` of `Role:Create`: the type of the audit entry's target. */
  readonly permissionNoun: string | undefined;
  readonly schema: z.ZodType;
}

/** An operation with its name and its tag in the catalogue. */
export interface NamedOperation extends Operation {
  readonly name: string;
  readonly tag: string;
}

/** Whether it takes an `Idempotency-Key` (conventions §9). Keys belong to a credential, which public operations lack. */
export const takesIdempotencyKey = ({ kind, method, access, status, name, path }: NamedOperation): boolean =>
  kind === 'mutation' &&
  method === 'POST' &&
  access !== 'public' &&
  !path.startsWith('/api/auth/') &&
  (status === 201 || name.startsWith('rotate') || path.endsWith('/test'));

const dryRun = z.boolean().optional().meta({
  description:
    'true: change nothing, and answer whose permissions the change would affect (GraphQL: in `extensions.dryRun`).',
});

/** Describes the `:id` of the path, which means the same in every operation. */
function targetId({ rest, input }: Pick<Declared, 'rest' | 'input'>): { id?: z.ZodType } {
  const { id } = input as { readonly id?: z.ZodType };
  if (!id || id.description !== undefined || !rest.includes('/:id')) return {};
  return { id: id.describe('Id of the object of the call.') };
}

/** Derives an operation from its declaration. */
export function define<S, I extends Shape, O extends z.ZodType, P, T extends AnyEntity | undefined>(
  kind: 'query' | 'mutation',
  declaration: Declaration<S, I, O, P, T>,
): Operation<I, O> {
  const [method, path] = declaration.rest.split(' ') as [Method, string];
  // The public token exchange also has a `scope` field, but it is part of the credentials, and no rights are checked.
  const scoped = 'scope' in declaration.input && declaration.access !== 'public';
  const input = { ...declaration.input, ...targetId(declaration), ...(declaration.dryRun && { dryRun }) };
  // The cast is safe, because the functions get only input that the schemas of this declaration have parsed.
  const { limit, ...declared } = declaration as unknown as Declared<I, O>;
  return {
    ...declared,
    kind,
    input,
    method,
    rate: typeof limit === 'string' ? limit : limit?.class === 'check' ? 'check' : undefined,
    ...(typeof limit === 'object' && { limit }),
    path: path.startsWith('~') ? path.slice(1) : `/api${path}`,
    pathParameter: /:(\w+)/.exec(path)?.[1],
    scoped,
    refusesImpersonation:
      kind === 'query'
        ? declaration.whileImpersonating === 'refused'
        : declaration.whileImpersonating !== 'allowed',
    related: nounOfRelations(input),
    takesRevision: 'minRevision' in declaration.input,
    permissionNoun: declaration.access.includes(':') ? declaration.access.split(':')[0] : undefined,
    // A missing scope has its own error code in a later stage, so the validation accepts it.
    schema: z.strictObject({
      ...input,
      ...(scoped ? { scope: (declaration.input['scope'] as z.ZodType).optional() } : {}),
    }),
  };
}
