import type { DoorwardError } from '../contracts/errors.ts';
import { ApiError, ConnectionError, ForbiddenError, type ErrorDetail } from '../contracts/errors.ts';
import type { Failure, FailureKind } from './attempt.ts';

/** Members that all errors of one call have. */
interface CallFacts {
  readonly operation: string;
  readonly attempts: number;
  /** Whether repeating the call may help and does no harm. */
  readonly retryable: boolean;
}

const messages: Record<FailureKind, string> = {
  UNREACHABLE: 'The service was not reached.',
  TIMEOUT: 'The service did not answer in time.',
  ABORTED: 'The caller aborted the call.',
  BAD_ANSWER: 'The answer is not from the service.',
};
const fixes: Partial<Record<FailureKind, string>> = {
  UNREACHABLE: 'Check `url`, and that the service runs: GET /health/ready.',
  BAD_ANSWER:
    'Check that `url` is the APP_URL of the service, and whether a proxy between it and this process answers.',
};

export function connectionError(
  { kind, system }: Failure,
  facts: CallFacts & { readonly status?: number; readonly retryAfterMs?: number | undefined },
): ConnectionError {
  const message = messages[kind].replace(/\.$/, system === undefined ? '.' : ` (${system}).`);
  return new ConnectionError(kind, message, { ...facts, fix: fixes[kind] });
}

/** The error of a response that is not a success; undefined if the body is not an error envelope of the service. */
export function apiError(
  status: number,
  body: unknown,
  facts: CallFacts & { readonly retryAfterMs: number | undefined },
): DoorwardError | undefined {
  const { error, code, requestId, fix, reason, details } = (body ?? {}) as Record<string, unknown>;
  if (typeof code !== 'string' || !/^[A-Z_]{1,64}$/.test(code) || typeof error !== 'string') return undefined;
  const members = {
    ...facts,
    status,
    requestId: textOf(requestId),
    fix: textOf(fix),
    reason: textOf(reason),
    details: Array.isArray(details) ? details.flatMap(detailOf) : undefined,
  };
  return new (status === 403 ? ForbiddenError : ApiError)(code, error.slice(0, 1000), members);
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.slice(0, 1000) : undefined;

function detailOf(item: unknown): ErrorDetail[] {
  const { path, message, code } = (item ?? {}) as Record<string, unknown>;
  return typeof path === 'string' && typeof message === 'string' && typeof code === 'string'
    ? [{ path, message, code }]
    : [];
}
