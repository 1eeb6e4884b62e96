import type { FastifyRequest } from 'fastify';
import { fail, type DoorwardError } from '../../errors.ts';
import type { FormAnswers } from '../../kernel/operation.ts';
import { membersOf, repeatedAmong } from './oauth-parameters.ts';

/* Bodies in `application/x-www-form-urlencoded`, which pages without scripts and OAuth clients send. */

const type = /^application\/x-www-form-urlencoded\b/i;

/** How to respond, if the request was a form and its operation responds to forms differently from JSON. */
export function formAnswersOf({ headers, route }: FastifyRequest): FormAnswers | undefined {
  const takesForm = route?.takesForm;
  return typeof takesForm === 'object' && type.test(headers['content-type'] ?? '') ? takesForm : undefined;
}

/**
 * Reads the fields of a form; a repeated field other than `resource` is refused. On endpoints with client
 * authentication, `Basic` credentials count as two fields; elsewhere they may belong to a proxy and are ignored. OAuth
 * ignores empty fields (RFC 6749 §3.2).
 */
export function readForm(
  request: FastifyRequest,
  body: string,
): Record<string, string | string[]> | DoorwardError {
  const { protocol, takesClientSecret } = request.routeOptions.config;
  const isOauth = protocol === 'oauth' || protocol === 'oauth-authorization';
  const credentials = isOauth && takesClientSecret ? basicCredentials(request) : [];
  const sent = [...new URLSearchParams(body)];
  // Some clients send the same `client_id` in the body and in `Basic`, which does not count as repeated.
  const isRepeated = ([name, value]: [string, string]) =>
    name === 'client_id' && sent.some(([other, same]) => other === name && same === value);
  const all = [...sent, ...credentials.filter((field) => !isRepeated(field))];
  const fields = isOauth ? all.filter(([, value]) => value !== '') : all;
  const repeated = repeatedAmong(fields.map(([name]) => name));
  if (repeated.length > 0) {
    return fail('VALIDATION_ERROR', { details: repeated.map((path) => ({ path, code: 'duplicate' })) });
  }
  return isOauth ? membersOf(fields) : Object.fromEntries(fields);
}

/** Reads `Basic` credentials as fields. By RFC 6749 §2.3.1, id and secret are form-encoded before they are joined. */
function basicCredentials({ headers }: FastifyRequest): [string, string][] {
  const encoded = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(headers.authorization ?? '')?.[1];
  if (encoded === undefined) return [];
  const [, id = '', secret = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return [
    ['client_id', decoded(id)],
    ['client_secret', decoded(secret)],
  ];
}

/** Form-decodes one value. An unencoded `&` in it does not start another field. */
const decoded = (half: string): string =>
  new URLSearchParams(`half=${half.replaceAll('&', '%26')}`).get('half') ?? '';
