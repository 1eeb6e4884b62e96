import { decisionReasons, type DecisionReason } from '@doorward/decision/reasons';
import { catalogue, detailMessages, DoorwardError, fail, type Code, type DetailCode } from '../errors.ts';
import { translateCode, translateDetail } from '../i18n/translate.ts';
import type { Language } from '../languages.ts';
import type { JsonSchema } from '../kernel/output/json-schema.ts';

/* Converts any thrown value to a DoorwardError, and a DoorwardError to its response body (conventions §2). */

/** The properties of a request that its error body needs. */
interface ErrorContext {
  readonly language: Language;
  readonly requestId: string;
}

/** One invalid field of the input, localized. Never contains the value. */
interface DetailBody {
  readonly path: string;
  readonly message: string;
  readonly code: DetailCode;
}

/** Members of REST and GraphQL errors in addition to the message. Missing members are omitted, not null. */
interface ErrorExtensions {
  readonly code: Code;
  readonly requestId: string;
  readonly details?: readonly DetailBody[];
  readonly fix?: string;
  readonly reason?: DecisionReason;
}

/** The REST error envelope. */
interface RestErrorBody extends ErrorExtensions {
  readonly error: string;
}

/** JSON Schema of `RestErrorBody` for the OpenAPI document. */
export const errorSchema: JsonSchema = {
  type: 'object',
  description: 'Every failure on REST.',
  required: ['error', 'code', 'requestId'],
  properties: {
    error: { type: 'string', description: 'Localised message.' },
    code: { type: 'string', enum: Object.keys(catalogue), description: 'Machine-readable error code.' },
    requestId: { type: 'string', description: 'Names the request in the logs, as `X-Request-Id` does.' },
    details: {
      type: 'array',
      description: 'The invalid fields of the input.',
      maxItems: 20,
      items: {
        type: 'object',
        required: ['path', 'message', 'code'],
        properties: {
          path: { type: 'string', description: 'The field, e.g. `scope.id`.' },
          message: { type: 'string', description: 'Localised message.' },
          code: {
            type: 'string',
            enum: Object.keys(detailMessages),
            description: 'Machine-readable code of the problem.',
          },
        },
      },
    },
    fix: { type: 'string', description: 'How to correct the request.' },
    reason: { type: 'string', enum: decisionReasons, description: 'Why access was denied.' },
  },
};

/** `message` and `extensions` of a GraphQL error. The GraphQL transport adds `path` and `locations`. */
interface GraphqlErrorBody {
  readonly message: string;
  readonly extensions: ErrorExtensions;
}

const maxDetails = 20;

/** Builds the body of a REST error. */
export function restErrorBody(error: DoorwardError, context: ErrorContext): RestErrorBody {
  return { error: messageOf(error, context), ...extensionsOf(error, context) };
}

/** Builds a GraphQL error. */
export function graphqlError(error: DoorwardError, context: ErrorContext): GraphqlErrorBody {
  return { message: messageOf(error, context), extensions: extensionsOf(error, context) };
}

function messageOf(error: DoorwardError, { language }: ErrorContext): string {
  return translateCode(language, error.code, error.params);
}

function extensionsOf(error: DoorwardError, { language, requestId }: ErrorContext): ErrorExtensions {
  const { details, fix, reason } = error.extras;
  return {
    code: error.code,
    requestId,
    ...(details?.length && {
      details: details
        .slice(0, maxDetails)
        .map(({ path, code }) => ({ path, message: translateDetail(language, code), code })),
    }),
    ...(fix !== undefined && { fix }),
    // The reason is only included if a decision was denied (errors §2).
    ...(reason !== undefined && error.code === 'FORBIDDEN' && { reason }),
  };
}

/**
 * Converts any thrown value to an error in the catalog. Searches the chain of causes (DrizzleQueryError, GraphQLError)
 * for database errors and Fastify errors. Anything else becomes INTERNAL_ERROR, with the thrown value as `cause` for
 * the log, but without the parameters of a failed query.
 */
export function toDoorwardError(thrown: unknown): DoorwardError {
  for (const error of causesOf(thrown)) {
    if (error instanceof DoorwardError) return error;
    // Only the outermost error can come from Fastify. A 400 in a cause is the response of another server to this
    // service.
    const doorwardError = fromDatabase(error) ?? (error === thrown ? fromFastify(error) : undefined);
    if (doorwardError) return doorwardError;
  }
  return fail('INTERNAL_ERROR', { cause: withoutParams(thrown) });
}

interface Thrown {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly statusCode?: unknown;
  readonly cause?: unknown;
  readonly originalError?: unknown;
}

// Limits the search, because causes may form a cycle.
const maxCauses = 5;

function* causesOf(thrown: unknown): Generator<Thrown> {
  let current = thrown;
  for (let depth = 0; depth < maxCauses && typeof current === 'object' && current !== null; depth++) {
    const error: Thrown = current;
    yield error;
    current = error.cause ?? error.originalError;
  }
}

// PostgreSQL class 22: text that is invalid for the column's type (malformed UUID, NUL, broken UTF-8 sequence).
const refusedValues = new Set(['22P02', '22021', '22P05']);
// statement_timeout, lock_timeout, other time-outs of the server (25P03, 25P04, 57P05), transactions that conflicted
// more often than they are retried (40001, 40P01), no disk, memory or connections left (class 53), I/O error, read-only
// standby, shutdown (57P01–03), lost connection (class 08).
const unavailableCode =
  /^(?:57014|55P03|25P0[34]|40001|40P01|53[0-9A-Z]{3}|58030|25006|57P0[1235]|08[0-9A-Z]{3}|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE)$/;
// pg and pg-pool throw these errors without a code.
const unavailableMessage =
  /^(?:timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Cannot use a pool after calling end)/;

function fromDatabase(error: Thrown): DoorwardError | undefined {
  const code = typeof error.code === 'string' ? error.code : '';
  if (code === '23505') return fail('CONFLICT', { cause: error });
  if (refusedValues.has(code)) return fail('VALIDATION_ERROR', { cause: error });
  if (
    unavailableCode.test(code) ||
    (typeof error.message === 'string' && unavailableMessage.test(error.message))
  ) {
    return fail('UNAVAILABLE', { headers: { 'Retry-After': '1' }, cause: error });
  }
  return undefined;
}

function fromFastify(error: Thrown): DoorwardError | undefined {
  switch (error.code) {
    // A path that cannot be decoded, or that has a parameter longer than any id, does not exist.
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_INVALID_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return fail('NOT_FOUND', { cause: error });
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return bodyFault('empty_body', error);
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return bodyFault('malformed_json', error);
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return fail('PAYLOAD_TOO_LARGE', { cause: error });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return fail('UNSUPPORTED_MEDIA_TYPE', { cause: error });
  }
  if (error.statusCode === 400) {
    // secure-json-parse, which Fastify uses, throws a SyntaxError without a code.
    if (error instanceof SyntaxError) return bodyFault('malformed_json', error);
    return fail('VALIDATION_ERROR', { cause: error });
  }
  return undefined;
}

function bodyFault(code: DetailCode, cause: unknown): DoorwardError {
  return fail('VALIDATION_ERROR', { details: [{ path: '', code }], cause });
}

/**
 * Removes the parameters that DrizzleQueryError puts into its message, such as hashes and addresses, which must not be
 * logged.
 */
function withoutParams(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !('query' in thrown) || !('params' in thrown)) return thrown;
  const clean = new Error(`Failed query: ${String(thrown.query)}`, { cause: thrown.cause });
  const frames = thrown.stack?.slice(thrown.stack.search(/^\s+at /m));
  if (frames) clean.stack = `${clean.message}\n${frames}`;
  return clean;
}
