import { DoorwardError } from '../contracts/errors.ts';
import type { Doorward } from '../client/doorward.ts';
import type { Permission, Principal, VerifyOptions } from '../contracts/types.ts';
import { Answer, refusalsOf, type Refusals } from './answer.ts';
import { refusalOf } from './failure.ts';
import type { PermissionOptions } from './options.ts';

/**
 * The guard of a route, for any framework: it finds out who calls and whether they may, and answers those who may
 * not.
 *
 *     token → verifyToken → context → check → null (the route runs) or an Answer
 *
 * Whatever fails on the way ends in a refusal or is thrown: only a positive decision, and for routes without a
 * permission only a verified caller, ends in null.
 */
export interface Requirement<Request> {
  /** Undefined: a signed-in caller is enough. */
  readonly permission: Permission | undefined;
  readonly options: PermissionOptions<Request>;
}

/** What an adapter says about a request. */
export interface Call<Request> {
  readonly request: Request;
  readonly header: (name: string) => string | null | undefined;
  /** Of the socket. */
  readonly address: string | undefined;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal | undefined;
  /** Makes the principal visible to `context` and to the route. */
  readonly signIn: (principal: Principal) => void;
}

type Caller = Principal | { readonly userId: string };

const isPrincipal = (caller: Caller): caller is Principal => 'type' in caller;

/** Null: the route may run. Otherwise the answer in its place. @throws what `context` and the other options throw */
export async function admit<Request>(
  doorward: Doorward,
  { permission, options }: Requirement<Request>,
  call: Call<Request>,
): Promise<Answer | null> {
  const { request } = call;
  const { types, live } = options;
  const refuse = refusalsOf(call.header('x-request-id'));
  const minRevision = call.header('x-doorward-revision') ?? undefined;
  if (minRevision !== undefined && !/^[\w-]{1,128}$/.test(minRevision)) return refuse.badRevision();

  const given = options.who ? await options.who(request) : await tokenOf(options, call);
  if (given === null || given === undefined) return refuse.unauthenticated();
  const scope = typeof options.scope === 'function' ? await options.scope(request) : options.scope;
  // Falling back to the scope of the client would decide about another project than the one that the route serves.
  if (!scope && options.scope !== undefined) return refuse.notFound();
  const common = { signal: call.signal, timeoutMs: options.timeoutMs, scope: scope ?? undefined };

  const caller = await callerOf(doorward, given, { ...common, types, live }, refuse);
  if (caller instanceof Answer) return caller;
  const principal = isPrincipal(caller) ? caller : null;
  if (principal) call.signIn(principal);
  if (permission === undefined) return null;

  const context = options.context ? await options.context(request, principal) : {};
  if (!context || ('resource' in context && !context.resource)) return refuse.notFound();

  const address = options.address ? options.address(request) : call.address;
  const decision = await refusalOr(
    () => doorward.check(caller, permission, context, { ...common, minRevision, address }),
    principal !== null,
    refuse,
  );
  if (decision instanceof Answer) return decision;
  if (decision.authorized) return null;
  // These two reasons come from the client, and mean that nothing was decided.
  if (decision.reason === 'UNAVAILABLE' || decision.reason === 'STALE') return refuse.unavailable();
  return refuse.forbidden(decision.reason);
}

async function callerOf(
  doorward: Doorward,
  given: string | Caller,
  options: VerifyOptions,
  refuse: Refusals,
): Promise<Caller | Answer> {
  // Without this, a session without a user would count as a signed-in caller.
  if (typeof given !== 'string') return given.userId ? given : refuse.unauthenticated();
  return refusalOr(() => doorward.verifyToken(given, options), true, refuse);
}

/** The scheme is case-insensitive (conventions §5). An empty token counts as an invalid one. */
function tokenOf<Request>(options: PermissionOptions<Request>, call: Call<Request>) {
  if (options.token) return options.token(call.request);
  return /^bearer(?: +(.*))?$/i.exec(call.header('authorization') ?? '')?.[1];
}

async function refusalOr<T>(
  attempt: () => Promise<T>,
  byToken: boolean,
  refuse: Refusals,
): Promise<T | Answer> {
  try {
    return await attempt();
  } catch (error) {
    const refusal = error instanceof DoorwardError ? refusalOf(error, byToken, refuse) : null;
    if (refusal) return refusal;
    // Without the wrapping, a framework would answer the status of the error, such as 400, as if the caller had
    // made a mistake.
    const code = error instanceof DoorwardError ? error.code : 'an error';
    throw new Error(`The guard of this route could not decide: ${code}.`, { cause: error });
  }
}
