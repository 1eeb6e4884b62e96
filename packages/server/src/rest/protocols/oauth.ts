import type { FastifyRequest } from 'fastify';
import { fail, type Detail } from '../../errors.ts';
import { repeatedIn } from '../../http/body/oauth-parameters.ts';
import type { NamedOperation } from '../../kernel/operation.ts';

type Members = Readonly<Record<string, unknown>>;

const refuse = (details: readonly Detail[]) => fail('VALIDATION_ERROR', { details: details.slice(0, 20) });

/**
 * Reads the parameters of a request to an OAuth endpoint (RFC 6749 §3.1, §3.2). Unknown parameters are ignored, because
 * clients may send extensions of other servers.
 *
 * @throws VALIDATION_ERROR
 */
export function readOauthParameters(
  op: NamedOperation,
  required: readonly string[],
  { query, body }: FastifyRequest,
): Record<string, unknown> {
  const repeated = repeatedIn(query);
  if (op.method === 'GET') {
    // Other invalid parameters of an authorization request are reported to the app, once the app is identified.
    const unreadable =
      op.protocol === 'oauth-authorization' ? repeated.filter((name) => required.includes(name)) : repeated;
    if (unreadable.length > 0) throw refuse(unreadable.map((path) => ({ path, code: 'duplicate' })));
    return pick(op, query as Members, (name) => !repeated.includes(name));
  }
  // URLs are logged, so they must not contain secrets and tokens (RFC 6749 §2.3.1).
  const misplaced = Object.keys(query as Members).filter(
    (name) => Object.hasOwn(op.input, name) && !repeated.includes(name),
  );
  const details: Detail[] = [
    ...repeated.map((path) => ({ path, code: 'duplicate' as const })),
    ...misplaced.map((path) => ({ path, code: 'not_allowed' as const })),
  ];
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (!isObject && required.length > 0) {
    details.push({ path: '', code: body === undefined || body === null ? 'empty_body' : 'type' });
  }
  if (details.length > 0) throw refuse(details);
  return isObject ? pick(op, body as Members) : {};
}

const pick = (op: NamedOperation, members: Members, wanted = (_name: string) => true) =>
  Object.fromEntries(
    Object.entries(members).filter(([name]) => Object.hasOwn(op.input, name) && wanted(name)),
  );
