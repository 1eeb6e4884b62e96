import {
  catalogue,
  decisionReasons,
  detailMessages,
  DoorwardError,
  fail,
  type Code,
  type DecisionReason,
  type DetailCode,
} from '../errors.ts';
import { translateCode, translateDetail, type Language } from '../i18n/translate.ts';
import type { JsonSchema } from '../kernel/json-schema.ts';

/** How a DoorwardError looks on the wire (conventions §2), and how anything else that was thrown becomes one. */

/** What the answer to one request needs beside the error. */
export interface ErrorContext {
  readonly language: Language;
  readonly requestId: string;
}

/** One fault of the input, localized; never with its value. */
export interface DetailBody {
  readonly path: string;
  readonly message: string;
  readonly code: DetailCode;
}

/** What both transports tell beside the message; absent members are left out, not null. */
export interface ErrorExtensions {
  readonly code: Code;
  readonly requestId: string;
  readonly details?: readonly DetailBody[];
  readonly fix?: string;
  readonly reason?: DecisionReason;
}

/** The REST error envelope. */
export interface RestErrorBody extends ErrorExtensions {
  readonly error: string;
}

/** The schema of `RestErrorBody`, for the documents. */
export const errorSchema: JsonSchema = {
  type: 'object',
  description: 'Every failure on REST.',
  required: ['error', 'code', 'requestId'],
  properties: {
    error: { type: 'string', description: 'Localised message.' },
    code: { type: 'string', enum: Object.keys(catalogue), description: 'What went wrong, for programs.' },
    requestId: { type: 'string', description: 'Names the request in the logs, as `X-Request-Id` does.' },
    details: {
      type: 'array',
      description: 'What is wrong with which field of the input.',
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
            description: 'What is wrong with it, for programs.',
          },
        },
      },
    },
    fix: { type: 'string', description: 'What to do about it.' },
    reason: { type: 'string', enum: decisionReasons, description: 'Why it was forbidden.' },
  },
};

/** `message` and `extensions` of a GraphQL error; `path` and `locations` are the transport's. */
export interface GraphqlErrorBody {
  readonly message: string;
  readonly extensions: ErrorExtensions;
}

const maxDetails = 20;

/** The body of a REST error. */
export function restErrorBody(error: DoorwardError, context: ErrorContext): RestErrorBody {
  return { error: messageOf(error, context), ...extensionsOf(error, context) };
}

/** The same as a GraphQL error. */
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
    // Why a decision was taken is told with a denied decision only (errors §2).
    ...(reason !== undefined && error.code === 'FORBIDDEN' && { reason }),
  };
}

/**
 * Any thrown value as an error of the catalogue. Looks through wrappers (drizzle's DrizzleQueryError, GraphQLError) for
 * what it knows: the database's refusals and absences, and Fastify's complaints about the request. The rest is
 * INTERNAL_ERROR with the thrown value as `cause`, for the log only and without the parameters of a failed query.
 */
export function toDoorwardError(thrown: unknown): DoorwardError {
  for (const error of chainOf(thrown)) {
    if (error instanceof DoorwardError) return error;
    // Only the thrown error itself can be Fastify's: a 400 further in is the answer of some other server to us.
    const known = fromDatabase(error) ?? (error === thrown ? fromFastify(error) : undefined);
    if (known) return known;
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

// Deeper nesting is not seen in practice, and a cycle must end.
const maxChain = 5;

function* chainOf(thrown: unknown): Generator<Thrown> {
  let current = thrown;
  for (let depth = 0; depth < maxChain && typeof current === 'object' && current !== null; depth++) {
    const error: Thrown = current;
    yield error;
    current = error.cause ?? error.originalError;
  }
}

// Class 22 of PostgreSQL: text that no column of the type can hold (a malformed uuid, NUL, a broken sequence).
const refusedValues = new Set(['22P02', '22021', '22P05']);
// Cancelled by statement_timeout, out of disk, memory or connections (class 53), a disk that fails, a standby that takes
// no writes, shutting down (57P01–03), connection lost (class 08).
const absence =
  /^(?:57014|53[0-9A-Z]{3}|58030|25006|57P0[123]|08[0-9A-Z]{3}|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE)$/;
// What pg and pg-pool throw without a code.
const absenceMessage =
  /^(?:timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Cannot use a pool after calling end)/;

function fromDatabase(error: Thrown): DoorwardError | undefined {
  const code = typeof error.code === 'string' ? error.code : '';
  if (code === '23505') return fail('CONFLICT', { cause: error });
  if (refusedValues.has(code)) return fail('VALIDATION_ERROR', { cause: error });
  if (absence.test(code) || (typeof error.message === 'string' && absenceMessage.test(error.message))) {
    return fail('UNAVAILABLE', { headers: { 'Retry-After': '1' }, cause: error });
  }
  return undefined;
}

function fromFastify(error: Thrown): DoorwardError | undefined {
  switch (error.code) {
    // A path that cannot be decoded, or a parameter longer than any id, is a path that does not exist.
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
    // secure-json-parse, which Fastify parses with, throws a SyntaxError of its own.
    if (error instanceof SyntaxError) return bodyFault('malformed_json', error);
    return fail('VALIDATION_ERROR', { cause: error });
  }
  return undefined;
}

function bodyFault(code: DetailCode, cause: unknown): DoorwardError {
  return fail('VALIDATION_ERROR', { details: [{ path: '', code }], cause });
}

/** DrizzleQueryError writes the parameters of the query into its message: hashes and addresses that no log may hold. */
function withoutParams(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !('query' in thrown) || !('params' in thrown)) return thrown;
  const clean = new Error(`Failed query: ${String(thrown.query)}`, { cause: thrown.cause });
  const frames = thrown.stack?.slice(thrown.stack.search(/^\s+at /m));
  if (frames) clean.stack = `${clean.message}\n${frames}`;
  return clean;
}
