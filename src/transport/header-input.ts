import type { FastifyRequest } from 'fastify';
import { fail, type Detail } from '../errors.ts';
import type { NamedOperation } from '../kernel/operation.ts';

/**
 * Reads the question of a proxy that asks before it forwards (`Declaration.headers`): from headers that the proxy sets,
 * or from the query of the address that it calls. A client whose headers the proxy passes on must not add to the
 * question, so a value that is sent in both places or twice is refused. At paths below the address, path and query are
 * those of the client, and are not read.
 */
type Members = Record<string, unknown>;

/** @throws VALIDATION_ERROR */
export function readQuestion(
  { headers: names = {} }: Pick<NamedOperation, 'headers'>,
  { query, params, raw, headers }: FastifyRequest,
): Members {
  const parameters = '*' in (params as object) ? {} : (query as Members);
  const details: Detail[] = [];
  const read: Members = {};
  const isInHeaders = Object.values(names).some((header) => headers[header] !== undefined);
  for (const [field, header] of Object.entries(names)) {
    const value = isInHeaders ? headers[header] : parameters[field];
    const isTwice = isInHeaders ? timesIn(raw.rawHeaders, header) > 1 : Array.isArray(value);
    if (isTwice) details.push({ path: field, code: 'duplicate' });
    else if (isInHeaders && field in parameters) details.push({ path: field, code: 'excluded' });
    else if (value !== undefined) read[field] = value;
  }
  for (const name of Object.keys(parameters)) {
    if (!Object.hasOwn(names, name)) details.push({ path: name, code: 'unknown_field' });
  }
  if (details.length > 0) throw fail('VALIDATION_ERROR', { details: details.slice(0, 20) });
  return { ...read, ...('scope' in read ? { scope: scopeIn(String(read['scope'])) } : {}) };
}

/** Node joins what is sent twice into one value. */
const timesIn = (rawHeaders: readonly string[], header: string): number =>
  rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === header).length;

function scopeIn(text: string): Members {
  const colon = text.indexOf(':');
  if (colon < 0) throw fail('VALIDATION_ERROR', { details: [{ path: 'scope', code: 'format' }] });
  return { tenant: text.slice(0, colon), id: text.slice(colon + 1) };
}
