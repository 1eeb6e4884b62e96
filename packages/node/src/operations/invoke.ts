import { ApiError } from '../contracts/errors.ts';
import type { CallOptions, Scope } from '../contracts/types.ts';
import { Failure } from '../calls/attempt.ts';
import { connectionError } from '../calls/call-error.ts';
import type { RestOperation } from './operation.ts';
import { requestParts } from './request-parts.ts';
import { jsonOf, type Sending, type Sent, type Transport } from '../calls/transport.ts';

/** The transport of a client, with the defaults for its operations. */
export interface Caller {
  readonly transport: Transport;
  /** The scope for inputs that leave it out. */
  readonly scope: Scope | null;
  /** True if the user of this package passed the token; public operations then send it too. */
  readonly hasGivenToken: boolean;
}

export interface InvokeOptions extends CallOptions {
  readonly idempotencyKey?: string | undefined;
  /** A token to use instead of the client's own. */
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Result {
  /** `data` of the response, or the `Response` itself if it is not JSON. */
  readonly data: unknown;
  readonly status: number;
  readonly headers: Headers;
}

type Input = Readonly<Record<string, unknown>>;

/** Sends one operation. @throws DoorwardError unless it succeeds */
export async function invoke(
  caller: Caller,
  operation: RestOperation,
  input: Input,
  options: InvokeOptions = {},
): Promise<Result> {
  const { name, method, isRepeatable, isRaw, takesIdempotencyKey } = operation;
  const key = takesIdempotencyKey ? { 'idempotency-key': idempotencyKey(options.idempotencyKey) } : {};
  const sent = await caller.transport.send({
    operation: name,
    method,
    ...requestParts(operation, input, caller.scope),
    headers: { ...key, ...(isRaw ? { accept: '*/*' } : {}), ...options.headers },
    token: tokenOf(caller, operation, options.token),
    isRepeatable,
    signal: options.signal,
    timeoutMs: options.timeoutMs,
    readsBody: !isRaw,
  });
  const { status, headers } = sent.response;
  return { data: dataOf(operation, sent), status, headers };
}

function tokenOf(caller: Caller, { isPublic }: RestOperation, token: string | undefined): Sending['token'] {
  if (token !== undefined) return { text: token };
  return isPublic && !caller.hasGivenToken ? 'none' : 'own';
}

function idempotencyKey(given: string | undefined): string {
  if (given === undefined) return crypto.randomUUID();
  if (!/^[!-~]{1,255}$/.test(given))
    throw new TypeError('idempotencyKey must have 1 to 255 visible ASCII characters');
  return given;
}

function dataOf(operation: RestOperation, { response, text, attempts }: Sent): unknown {
  if (response.status === 304 || response.status === 204) return undefined;
  if (operation.isRaw) return response;
  const body = jsonOf(text) as { success?: unknown; data?: unknown } | undefined;
  const isAnswer = operation.isBare ? body !== undefined : body?.success === true && 'data' in body;
  if (!isAnswer || body === undefined) {
    const facts = { operation: operation.name, attempts, retryable: false, status: response.status };
    throw connectionError(new Failure('BAD_ANSWER'), facts);
  }
  const data = operation.isBare ? body : body.data;
  if (response.headers.has('idempotency-replayed')) assertSecrets(operation, data, { response, attempts });
  return data;
}

/**
 * Throws if the response with the secrets was lost: the replay of an idempotent call contains none, so the created or
 * rotated credential cannot be used.
 */
function assertSecrets(
  { name, secrets }: RestOperation,
  data: unknown,
  { response: { status }, attempts }: Pick<Sent, 'response' | 'attempts'>,
): void {
  const row = (data ?? {}) as Readonly<Record<string, unknown>>;
  // Apps that are not confidential have no secret.
  const lost = row['confidential'] === false ? [] : secrets.filter((member) => row[member] === null);
  if (lost.length === 0) return;
  const id = typeof row['id'] === 'string' ? row['id'] : undefined;
  throw new ApiError('SECRET_LOST', 'The change was made, but the answer with its secret was lost.', {
    ...{ operation: name, status, attempts, entityId: id },
    fix: `Rotate the secret${id === undefined ? '' : ` of ${id}`}, or delete it and create another.`,
    details: lost.map((path) => ({
      path,
      message: 'Shown once, in an answer that did not arrive.',
      code: 'lost',
    })),
  });
}
