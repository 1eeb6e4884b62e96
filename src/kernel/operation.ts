import { z } from 'zod';
import type { Code, DoorwardError } from '../errors.ts';
import type { Call, Context, Services } from './context.ts';
import type { AnyEntity } from './entity.ts';
import { nounOfRelations } from './inputs.ts';
import type { BareReply, Refusal } from './reply.ts';
import type { Tenant } from './scope.ts';

/**
 * One operation = one literal. REST, GraphQL, OpenAPI, the guard, the audit entry, the built-in permissions
 * and the reference are derived from it; nothing about an operation is said anywhere else. The operation's
 * name is its export's name (and so its GraphQL field, operationId and audit name).
 */

/** `Noun:Action` = this permission in the scope. `session` = any signed-in user, `any` = any valid token. */
export type Access = 'public' | 'session' | 'any' | `${string}:${string}`;
type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
/** A limit belongs to the operation, not to the path: both transports count in the same class. */
export const rateClasses = ['general', 'auth', 'refresh', 'exchange', 'check', 'mail', 'export'] as const;
export type RateClass = (typeof rateClasses)[number];

interface Limit<I> {
  readonly class: RateClass;
  /** What is counted; `null`: nothing, `''`: the caller's credential or network. */
  readonly key: (input: I, call: Call, services: Services) => string | null;
  /** As how many calls one counts, if not as one. */
  readonly points?: (input: I) => number;
}

/** How the request of a form is answered: a browser is led on, an OAuth client gets RFC 6749. */
export interface FormAnswers<O = unknown> {
  readonly answer: (output: O) => BareReply;
  readonly refusal?: (error: DoorwardError) => BareReply | undefined;
  /** The forms of these answers, for the documents. */
  readonly success?: z.ZodType;
  readonly failure?: z.ZodType;
}

type Shape = z.ZodRawShape;
export type InputOf<I extends Shape> = z.output<z.ZodObject<I, z.core.$strict>>;
type Answer<O extends z.ZodType> = z.output<O> | BareReply | Refusal;

export interface Declaration<
  I extends Shape = Shape,
  O extends z.ZodType = z.ZodType,
  P = unknown,
  T extends AnyEntity | undefined = AnyEntity | undefined,
> {
  /** Method and path below `/api`; a path that starts with `~/` stands at the root. */
  readonly rest: `${Method} ${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** Needs a session token although it has a permission (authorization §9). */
  readonly sessionOnly?: boolean;
  /** Tenants it works on; needed when the input has a `scope`. */
  readonly tenants?: readonly Tenant[];
  /** A pinned token may leave the scope out (authorization §10). */
  readonly scopeOptional?: boolean;
  readonly input: I;
  readonly output: O;
  /** 302 and 303: every answer is a `redirect`. 204: none has a body. */
  readonly status?: 200 | 201 | 202 | 204 | 302 | 303;
  readonly only?: 'rest';
  /** Its body may also be a form, which a page without script posts; with its own answers where they differ. */
  readonly takesForm?: true | FormAnswers<z.output<O>>;
  /**
   * An endpoint of OAuth, which ignores parameters that it does not know and refuses those sent twice. Of an
   * `authorization` request the operation does that itself (`Call.repeated`), to tell the app.
   */
  readonly oauth?: 'authorization' | 'endpoint';
  /** Answers every method, at its path and at all below it, and reads no body. */
  readonly everyMethod?: true;
  /** Headers that input may stand in, instead of the query, by field. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Browsers are led here: whoever asks for HTML gets errors as a page. */
  readonly forBrowsers?: true;
  /**
   * The other origins whose pages may read the answers, without a cookie: `any` origin; those of the `app` whose token
   * is sent; those of the app that `client_id` names (`client`); or `none`. Absent: only origins that the operator has
   * configured.
   */
  readonly cors?: 'any' | 'app' | 'client' | 'none';
  /** Members of the answer that are shown once: not kept for an idempotent replay, which answers `null` for them. */
  readonly secrets?: readonly (keyof z.output<O> & string)[];
  /** The member of the answer that names its version: REST sends it as ETag, and 304 to whoever has it. */
  readonly etag?: keyof z.output<O> & string;
  /** Answered without envelope (conventions §2); media types where it is not JSON. */
  readonly bare?: true | readonly `${string}/${string}`[];
  /** Of a request that may be larger than others: a file. */
  readonly bodyLimitBytes?: number;
  /** Counted otherwise than in class `general`: not at all, by network only, or by the operation alone. */
  readonly rate?: 'exempt' | 'network' | 'check';
  /** Row that the path names (`:id`): loaded in the scope (404) before conditions are asked. */
  readonly target?: T;
  /** The user whom the call is about, if a signed-in one may do it to himself without the permission (leaving). */
  readonly self?: (input: InputOf<I>) => string;
  /** Where REST answers in another form than GraphQL; the default is the output with `status`. */
  readonly restShape?: (output: z.output<O>) => { readonly status?: number; readonly data: unknown };
  /** The forms of `data` that `restShape` makes, by status. */
  readonly restAnswers?: Readonly<Record<number, z.ZodType>>;
  /** Takes `dryRun: true`, which checks everything, changes nothing, and is answered with this. */
  readonly dryRun?: z.ZodType;
  /** Event of a success; CRUD events take their data from the answer. */
  readonly emits?: string;
  /** Codes beyond those implied by conventions §4. */
  readonly codes?: readonly Code[];
  /** Class counted beside, or (for `check`) instead of `general`. */
  readonly limit?: Limit<InputOf<I>>;
  /** Reads or ends the session of the refresh cookie. */
  readonly usesCookie?: boolean;
  /** A foreign scope is an answer of this operation, not a failure (isAuthorized). */
  readonly asksOnly?: boolean;
  /** A query of what is cached: it takes no connection, and has no `db` and `tx`. What it must read, it reads by `read`. */
  readonly fromMemory?: true;
  /**
   * What such an answer needs besides the rights of the caller: the rights of another user, or rows. If that is not in
   * memory, the call waits for the database like any other.
   */
  alsoNeeds?(input: InputOf<I>): { readonly userId: string } | 'rows' | undefined;
  /**
   * Changes nobody's rights, so cached ones stay good: signing in, exchanging. Everything else is taken to change
   * them, so that no declaration can forget to say so.
   */
  readonly keepsRights?: true;
  /**
   * May give rights to a user, directly or through the roles that they have. Keys that somebody else made for that
   * user, and that now hold more than their maker, end with it.
   */
  readonly addsRights?: true;
  /** Calls that come together are one transaction, each answered after its commit: for what is called in masses. */
  readonly sharesCommit?: true;
  /** Open to a session that has yet to give its second factor. */
  readonly beforeMfa?: true;
  /** Recent sign-in needed (identity §6). */
  readonly stepUp?: boolean;
  /** Work that must not hold a transaction open: hashing, key generation. */
  readonly prepare?: (ctx: Context<I, undefined, T>) => Promise<P>;
  readonly run: (ctx: Context<I, P, T>) => Promise<Answer<O>> | Answer<O>;
}

/** A declaration with what can be derived from it at once. */
export interface Operation<I extends Shape = Shape, O extends z.ZodType = z.ZodType> extends Omit<
  Declaration<I, O>,
  'run' | 'prepare' | 'limit' | 'restShape' | 'self' | 'secrets' | 'etag' | 'takesForm'
> {
  readonly kind: 'query' | 'mutation';
  readonly method: Method;
  /** Full path as routed, e.g. `/api/roles/:id`. */
  readonly path: string;
  /** The path's own parameter: the input field that names the target. */
  readonly pathParameter: string | undefined;
  readonly scoped: boolean;
  /** The noun whose relations its input may name. */
  readonly related: AnyEntity | undefined;
  /** Its input may name a revision (`minRevision`); the answer is then from a state at least as new. */
  readonly takesRevision: boolean;
  /** `Role` of `Role:Create`: the type of the audit entry's target. */
  readonly permissionNoun: string | undefined;
  readonly schema: z.ZodType;
  readonly limit?: Limit<never>;
  readonly secrets?: readonly string[];
  readonly etag?: string;
  readonly takesForm?: true | FormAnswers<never>;
  readonly restShape?: (output: never) => { readonly status?: number; readonly data: unknown };
  readonly self?: (input: never) => string;
  readonly prepare?: (ctx: never) => Promise<unknown>;
  readonly run: (ctx: never) => unknown;
}

/** An operation with its place in the catalogue. */
export interface NamedOperation extends Operation {
  readonly name: string;
  readonly tag: string;
}

/** Whether an operation takes an `Idempotency-Key` (conventions §9). Without a credential a key would be nobody's. */
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

/** The id in the path means the same everywhere, so that no declaration needs to say it. */
function targetId({ rest, input }: Pick<Declaration, 'rest' | 'input'>): { id?: z.ZodType } {
  const { id } = input as { readonly id?: z.ZodType };
  if (!id || id.description !== undefined || !rest.includes('/:id')) return {};
  return { id: id.describe('Id of what the call is about.') };
}

function define<I extends Shape, O extends z.ZodType, P, T extends AnyEntity | undefined>(
  kind: 'query' | 'mutation',
  declaration: Declaration<I, O, P, T>,
): Operation<I, O> {
  const [method, path] = declaration.rest.split(' ') as [Method, string];
  // The token exchange names a scope too, but as part of the credentials: nobody's rights are asked there.
  const scoped = 'scope' in declaration.input && declaration.access !== 'public';
  const input = { ...declaration.input, ...targetId(declaration), ...(declaration.dryRun && { dryRun }) };
  return {
    ...(declaration as unknown as Declaration<I, O>),
    kind,
    input,
    method,
    path: path.startsWith('~') ? path.slice(1) : `/api${path}`,
    pathParameter: /:(\w+)/.exec(path)?.[1],
    scoped,
    related: nounOfRelations(input),
    takesRevision: 'minRevision' in declaration.input,
    permissionNoun: declaration.access.includes(':') ? declaration.access.split(':')[0] : undefined,
    // A missing scope has a code of its own and is told at its own step, so validation lets it pass.
    schema: z.strictObject({
      ...input,
      ...(scoped ? { scope: (declaration.input['scope'] as z.ZodType).optional() } : {}),
    }),
  };
}

/** An operation that changes nothing: no audit entry. In a scope it runs in a read-only transaction. */
export const query = <I extends Shape, O extends z.ZodType, T extends AnyEntity | undefined = undefined>(
  declaration: Omit<Declaration<I, O, undefined, T>, 'prepare'>,
): Operation<I, O> => define('query', declaration);

/** An operation that runs in one transaction together with its audit entry and events. */
export const mutation = <
  I extends Shape,
  O extends z.ZodType,
  P,
  T extends AnyEntity | undefined = undefined,
>(
  declaration: Declaration<I, O, P, T>,
): Operation<I, O> => define('mutation', declaration);
