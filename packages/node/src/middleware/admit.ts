/*
 * The guard of a route, for any framework. It identifies the caller, decides whether they are allowed, and refuses them
 * otherwise.
 *
 *     token → verifyToken → context → check → null (the route runs) or an Answer
 *
 * Every failure on the way ends in a refusal or is thrown. The route runs only after a positive decision or, if it
 * requires no permission, for an identified caller.
 */

import { DoorwardError } from '../contracts/errors.ts';
import type { Doorward } from '../client/doorward.ts';
import type { Permission, Principal, VerifyOptions } from '../contracts/types.ts';
import { Answer, refusalsOf, type Refusals } from './answer.ts';
import { refusalOf } from './failure.ts';
import type { PermissionOptions } from './options.ts';

/** The requirement of a route: a permission, or only a valid token. */
export interface Requirement<Request> {
  /** If undefined, a signed-in caller is enough. */
  readonly permission: Permission | undefined;
  readonly options: PermissionOptions<Request>;
}

/** A request, as an adapter describes it. */
export interface Call<Request> {
  readonly request: Request;
  readonly header: (name: string) => string | null | undefined;
  /** Network address of the socket. */
  readonly address: string | undefined;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal | undefined;
  /** Makes the principal visible to `context` and to the route. */
  readonly signIn: (principal: Principal) => void;
}

type Caller = Principal | { readonly userId: string };

const isPrincipal = (caller: Caller): caller is Principal => 'type' in caller;

/**
 * Decides whether a route may run. Returns null if so, else the response to send instead.
 *
 * @throws whatever `context` and the other options throw
 */
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
  // Falling back to the client's scope would decide about a project that the route does not serve.
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
  // These two reasons come from the client; they mean that nothing was decided.
  if (decision.reason === 'UNAVAILABLE' || decision.reason === 'STALE') return refuse.unavailable();
  return refuse.forbidden(decision.reason);
}

async function callerOf(
  doorward: Doorward,
  given: string | Caller,
  options: VerifyOptions,
  refuse: Refusals,
): Promise<Caller | Answer> {
  // Without this check, an application session without a user would count as a signed-in caller.
  if (typeof given !== 'string') return given.userId ? given : refuse.unauthenticated();
  return refusalOr(() => doorward.verifyToken(given, options), true, refuse);
}

/** The scheme is case-insensitive (conventions §5). `Bearer` without a token counts as a missing token. */
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
    // The error is wrapped, because a framework would otherwise send its status, such as 400, as if the caller had made
    // a mistake.
    const code = error instanceof DoorwardError ? error.code : 'an error';
    throw new Error(`The guard of this route could not decide: ${code}.`, { cause: error });
  }
}
