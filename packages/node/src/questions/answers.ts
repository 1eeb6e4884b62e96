import { ConnectionError } from '../contracts/errors.ts';
import type { Page } from '../operations/pages.ts';
import type {
  AllowedSubject,
  BatchDecision,
  ExplainedDecision,
  HeldPermissions,
} from '../contracts/types.ts';

/* Checks the form of responses. A malformed response is a failure, never an allowed decision. */

const badAnswer = (operation: string): ConnectionError =>
  new ConnectionError('BAD_ANSWER', 'The answer is not from the service.', {
    operation,
    attempts: 1,
    status: 200,
  });

const isDecision = (value: unknown): value is ExplainedDecision => {
  const { authorized, reason } = (value ?? {}) as Record<string, unknown>;
  return typeof authorized === 'boolean' && typeof reason === 'string';
};

/** Reads the decision in a response to `isAuthorized`. @throws ConnectionError if it is malformed */
export function decisionOf(data: unknown): ExplainedDecision {
  if (!isDecision(data)) throw badAnswer('isAuthorized');
  return data;
}

/**
 * Reads the decisions in a response to `isAuthorizedBatch`, one for each of `count` questions.
 *
 * @throws ConnectionError if they are malformed
 */
export function decisionsOf(data: unknown, count: number): readonly BatchDecision[] {
  const items = (data as { items?: unknown } | null)?.items;
  if (!Array.isArray(items) || items.length !== count || !items.every(isDecision))
    throw badAnswer('isAuthorizedBatch');
  return items;
}

/** Reads the permissions in a response to `myPermissions`. @throws ConnectionError if they are malformed */
export function permissionsOf(data: unknown): HeldPermissions {
  const { version, permissions } = (data ?? {}) as Record<string, unknown>;
  if (typeof version !== 'string' || !Array.isArray(permissions)) throw badAnswer('myPermissions');
  return { version, permissions: permissions as HeldPermissions['permissions'] };
}

const isAllowedSubject = (value: unknown): value is AllowedSubject => {
  const { subject, reason } = (value ?? {}) as { subject?: { id?: unknown } | null; reason?: unknown };
  return typeof subject?.id === 'string' && typeof reason === 'string';
};

/**
 * Reads a page of `whoCan`. A valid page is either complete and has no cursor, or incomplete and has one.
 *
 * @throws ConnectionError if it is malformed
 */
export function allowedSubjectsOf(data: unknown): Page<AllowedSubject> {
  const { items, nextCursor, complete } = (data ?? {}) as Record<string, unknown>;
  const isLast = complete === true && nextCursor === null;
  const goesOn = complete === false && typeof nextCursor === 'string';
  if (!Array.isArray(items) || !items.every(isAllowedSubject) || !(isLast || goesOn))
    throw badAnswer('whoCan');
  return { items, nextCursor: nextCursor };
}
