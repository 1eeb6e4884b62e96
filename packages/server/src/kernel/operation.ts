import { z } from 'zod';
import type { Code, DoorwardError } from '../errors.ts';
import type { Call, Context, Principal, Services } from './context.ts';
import type { AnyEntity } from './entity.ts';
import { nounOfRelations } from './input/inputs.ts';
import type { BareReply, Refusal } from './output/reply.ts';
import type { ScopeInput, Tenant } from './scope.ts';

/*
 * One operation is one literal. REST, GraphQL, OpenAPI, the guard, the audit entry, the built-in permissions and the
 * reference are derived from it. The name of its export is the name of the operation: its GraphQL field, operationId and
 * audit name.
 */

/** `Noun:Action`: this permission in the scope. `session`: any signed-in user. `any`: any valid token. */
type Access = 'public' | 'session' | 'any' | `${string}:${string}`;
type WhileImpersonating = 'allowed' | 'refused';
type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
/** A limit belongs to the operation, not to the path: both transports count in the same class. */
export const rateClasses = ['general', 'auth', 'refresh', 'exchange', 'check', 'mail', 'export'] as const;
export type RateClass = (typeof rateClasses)[number];

interface Limit<I> {
  readonly class: RateClass;
  /** The key to count by; `null`: not counted, `''`: the caller's credential or network. */
  readonly key: (input: I, call: Call, services: Services) => string | null;
  /** How many calls this one counts as; 1 by default. */
  readonly points?: (input: I) => number;
}

/** Answers to a form post: a browser is redirected, an OAuth client gets the form of RFC 6749. */
export interface FormAnswers<O = unknown> {
  readonly answer: (output: O) => BareReply;
  readonly refusal?: (error: DoorwardError) => BareReply | undefined;
  /** Schemas of these answers, for OpenAPI. */
  readonly success?: z.ZodType;
  readonly failure?: z.ZodType;
}

type Shape = z.ZodRawShape;
export type InputOf<I extends Shape> = z.output<z.ZodObject<I, z.core.$strict>>;
/** What the schema of an operation has parsed, for code that handles every operation. */
export type CallInput = Record<string, unknown> & { readonly scope?: ScopeInput };

type Answer<O extends z.ZodType> = z.output<O> | BareReply | Refusal;

interface Declaration<
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
  /** Needs a session token in addition to the permission (authorization §9). */
  readonly sessionOnly?: boolean;
  /** Without a scope, and open to a session that is bound to an organization. Else such a session reaches its scope alone. */
  readonly whileBound?: 'allowed';
  /** Whether this call needs a session token, for an operation that keys may call otherwise. */
  readonly sessionOnlyWhen?: (input: InputOf<I>, principal: Principal) => boolean;
  /**
   * Whether an operator of the installation may call it for a user: never for credentials, factors, new keys,
   * members and users, project grants, the deletion of organizations and projects, and the installation itself. A mutation
   * has to say it; a query is allowed unless it says otherwise.
   */
  readonly whileImpersonating?: WhileImpersonating;
  /** Tenants it works on; needed when the input has a `scope`. */
  readonly tenants?: readonly Tenant[];
  /** A pinned token may leave the scope out (authorization §10). */
  readonly scopeOptional?: boolean;
  readonly input: I;
  readonly output: O;
  /** 302 and 303: every answer is a `redirect`. 204: none has a body. */
  readonly status?: 200 | 201 | 202 | 204 | 302 | 303;
  readonly only?: 'rest';
  /** Also takes a form as body, for pages without script; with answers of its own if they differ from JSON. */
  readonly takesForm?: true | FormAnswers<z.output<O>>;
  /** Errors of REST in the form of a standard, instead of the envelope; with their schema for OpenAPI. */
  readonly standardErrors?: {
    readonly refusal: (error: DoorwardError) => BareReply;
    readonly failure: z.ZodType;
  };
  /**
   * An OAuth endpoint: ignores unknown parameters and refuses repeated ones. For an `authorization` request the operation
   * refuses repeated ones itself (`Call.repeated`), because it must redirect to the app.
   */
  readonly oauth?: 'authorization' | 'endpoint';
  /**
   * An endpoint of AuthZEN: its path is the scope (below the issuer of a project), or at the root the token names it. It
   * ignores unknown members and repeats any request id; another type of body is 400.
   */
  readonly authzen?: true;
  /** Answers every method at its path and below, and reads no body. */
  readonly everyMethod?: true;
  /** Headers that may carry input fields instead of the query, by field. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Browsers are redirected here: a request that accepts HTML gets errors as a page. */
  readonly forBrowsers?: true;
  /**
   * Further origins whose pages may read the answers, without a cookie: `any` origin; those of the `app` that the token
   * belongs to; those of the app that `client_id` names (`client`); or `none`. Absent: only the origins that the operator
   * configured.
   */
  readonly cors?: 'any' | 'app' | 'client' | 'none';
  /** Members of the answer that are shown once: an idempotent replay does not store them, and answers `null`. */
  readonly secrets?: readonly (keyof z.output<O> & string)[];
  /**
   * The member of the answer with its version: REST sends it as ETag, and 304 if the client has this version. `true`: a
   * bare answer has the header itself.
   */
  readonly etag?: (keyof z.output<O> & string) | true;
  /** Answered without envelope (conventions §2); with media types if it is not JSON. */
  readonly bare?: true | readonly `${string}/${string}`[];
  /** The body limit, for an operation that takes a file. */
  readonly bodyLimitBytes?: number;
  /** Not counted in class `general`, but: not at all, by network only, or in class `check` only. */
  readonly rate?: 'exempt' | 'network' | 'check';
  /** The entity that the path names (`:id`): its row is loaded in the scope (404) before conditions are evaluated. */
  readonly target?: T;
  /** The user that the call affects, if a signed-in user may do it to themselves without the permission (leaving). */
  readonly selfServiceUserId?: (input: InputOf<I>) => string;
  /** Who may call it in a suspended organization and its projects; absent: no member (docs/operating/operators.md). */
  readonly whileSuspended?: 'members' | 'owners';
  /** The answer of REST, if it differs from that of GraphQL; the default is the output with `status`. */
  readonly restShape?: (output: z.output<O>) => { readonly status?: number; readonly data: unknown };
  /** Schemas of the `data` that `restShape` returns, by status. */
  readonly restAnswers?: Readonly<Record<number, z.ZodType>>;
  /** The schema of the answer to `dryRun: true`, which checks everything and changes nothing. */
  readonly dryRun?: z.ZodType;
  /** The event of a success; CRUD events take their data from the answer. */
  readonly emits?: string;
  /** Error codes besides those that every operation may answer (conventions §4). */
  readonly codes?: readonly Code[];
  /** The rate class, counted in addition to `general`, or instead of it for `check`. */
  readonly limit?: Limit<InputOf<I>>;
  /** Reads or ends the session of the refresh cookie. */
  readonly usesCookie?: boolean;
  /** A foreign scope is an answer of this operation, not an error (isAuthorized). */
  readonly unknownScopeIsAnAnswer?: boolean;
  /** Who holds `Authorization:Check` in a project may ask it about the scopes in which the project is granted to customers. */
  readonly ownerMayAsk?: true;
  /** A query of cached state: it takes no connection and has no `db` and `tx`. It reads anything else with `read`. */
  readonly fromMemory?: true;
  /**
   * What such a query needs besides the rights of the caller: the rights of another user, or rows. If that is not in
   * memory, the call is admitted like any other that uses the database.
   */
  alsoNeeds?(input: InputOf<I>, principal: Principal): { readonly userId: string } | 'rows' | undefined;
  /**
   * Waits for a change, or for a server that the caller has chosen, perhaps for half a minute: it has no request slot
   * meanwhile, so that others use the database. A query checks its caller again (`Context.assertStillPermitted`). A
   * function says it of the call.
   */
  readonly waits?: true | ((input: InputOf<I>) => boolean);
  /** Refuses app tokens with SESSION_REQUIRED, whatever they hold: the reason, which the caller gets as `fix`. */
  readonly notForApps?: string;
  /**
   * Changes no rights, so cached ones stay valid (sign-in, token exchange). Without this member a mutation invalidates
   * them: a declaration that forgets it is slow, not wrong.
   */
  readonly keepsPermissions?: true;
  /**
   * May add permissions to a user, directly or through their roles. The mutation ends keys that another user created for
   * them and that now hold more than their creator.
   */
  readonly addsPermissions?: true;
  /** A query whose calls are audited: it runs in the transaction of its audit entry, like a mutation. */
  readonly audited?: true;
  /** Concurrent calls share one transaction, and each is answered after its commit: for operations with many calls. */
  readonly groupCommit?: true;
  /** Allowed for a session whose second factor is pending. */
  readonly allowedDuringMfa?: true;
  /** Needs a recent sign-in (identity §6). */
  readonly stepUp?: boolean;
  /** Work before the transaction, which it must not hold open: hashing, key generation. */
  readonly prepare?: (ctx: Context<I, undefined, T>) => Promise<P>;
  readonly run: (ctx: Context<I, P, T>) => Promise<Answer<O>> | Answer<O>;
}

/** A declaration, for code that handles every operation. */
interface Declared<I extends Shape = Shape, O extends z.ZodType = z.ZodType> extends Omit<
  Declaration<I, O>,
  | 'run'
  | 'prepare'
  | 'limit'
  | 'restShape'
  | 'selfServiceUserId'
  | 'sessionOnlyWhen'
  | 'waits'
  | 'secrets'
  | 'etag'
  | 'takesForm'
> {
  readonly limit?: Limit<CallInput>;
  readonly secrets?: readonly string[];
  readonly etag?: string | true;
  readonly takesForm?: true | FormAnswers;
  readonly restShape?: (output: unknown) => { readonly status?: number; readonly data: unknown };
  readonly selfServiceUserId?: (input: CallInput) => string;
  readonly sessionOnlyWhen?: (input: CallInput, principal: Principal) => boolean;
  readonly waits?: true | ((input: CallInput) => boolean);
  readonly prepare?: (ctx: never) => Promise<unknown>;
  readonly run: (ctx: never) => unknown;
}

/** A declaration with the members that are derived from it. */
export interface Operation<I extends Shape = Shape, O extends z.ZodType = z.ZodType> extends Declared<I, O> {
  readonly kind: 'query' | 'mutation';
  readonly method: Method;
  /** Full path as routed, e.g. `/api/roles/:id`. */
  readonly path: string;
  /** The parameter in the path: the input field that names the target. */
  readonly pathParameter: string | undefined;
  readonly scoped: boolean;
  /** Whether it refuses an operator who acts for a user. A mutation that does not say so refuses them. */
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

/** Whether an operation takes an `Idempotency-Key` (conventions §9). Keys belong to a credential, so public operations take none. */
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
function targetId({ rest, input }: Pick<Declaration, 'rest' | 'input'>): { id?: z.ZodType } {
  const { id } = input as { readonly id?: z.ZodType };
  if (!id || id.description !== undefined || !rest.includes('/:id')) return {};
  return { id: id.describe('Id of the object of the call.') };
}

function define<I extends Shape, O extends z.ZodType, P, T extends AnyEntity | undefined>(
  kind: 'query' | 'mutation',
  declaration: Declaration<I, O, P, T>,
): Operation<I, O> {
  const [method, path] = declaration.rest.split(' ') as [Method, string];
  // The public token exchange also has a `scope` field, but as a part of its credentials: no rights are checked there.
  const scoped = 'scope' in declaration.input && declaration.access !== 'public';
  const input = { ...declaration.input, ...targetId(declaration), ...(declaration.dryRun && { dryRun }) };
  return {
    // Its functions get what the schemas of this declaration have parsed, and nothing else.
    ...(declaration as unknown as Declared<I, O>),
    kind,
    input,
    method,
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

/** An operation that changes nothing and has no audit entry. In a scope it runs in a read-only transaction. */
export const query = <I extends Shape, O extends z.ZodType, T extends AnyEntity | undefined = undefined>(
  declaration: Omit<Declaration<I, O, undefined, T>, 'prepare'>,
): Operation<I, O> => define('query', declaration);

/** An operation that runs in one transaction with its audit entry and events. */
export const mutation = <
  I extends Shape,
  O extends z.ZodType,
  P,
  T extends AnyEntity | undefined = undefined,
>(
  declaration: Declaration<I, O, P, T> & { readonly whileImpersonating: WhileImpersonating },
): Operation<I, O> => define('mutation', declaration);
