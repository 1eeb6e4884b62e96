import type { FastifyRequest } from 'fastify';
import { fail, type DoorwardError } from '../errors.ts';
import type { FormAnswers } from '../kernel/operation.ts';
import { repeatedAmong } from './oauth-parameters.ts';

/** Bodies in `application/x-www-form-urlencoded`: what pages without script post, and what OAuth clients send. */
const type = /^application\/x-www-form-urlencoded\b/i;

/** How this request is to be answered, if it was a form and the operation answers forms in a way of its own. */
export function formAnswersOf({ headers, route }: FastifyRequest): FormAnswers<never> | undefined {
  const takesForm = route?.takesForm;
  return typeof takesForm === 'object' && type.test(headers['content-type'] ?? '') ? takesForm : undefined;
}

/**
 * The fields, each of which may stand there once. `Basic` credentials are two of them where clients are asked for
 * theirs: elsewhere they are some proxy's. Of an OAuth client an empty one was not sent (RFC 6749 §3.2).
 */
export function readForm(request: FastifyRequest, body: string): Record<string, string> | DoorwardError {
  const { oauth } = request.routeOptions.config;
  const credentials = oauth?.includes('client_secret') ? basicCredentials(request) : [];
  const sent = [...new URLSearchParams(body)];
  // Some clients repeat in the body who they are: that is one client, said twice.
  const isRepeated = ([name, value]: [string, string]) =>
    name === 'client_id' && sent.some(([other, same]) => other === name && same === value);
  const all = [...sent, ...credentials.filter((field) => !isRepeated(field))];
  const fields = oauth ? all.filter(([, value]) => value !== '') : all;
  const twice = repeatedAmong(fields.map(([name]) => name));
  if (twice.length > 0) {
    return fail('VALIDATION_ERROR', { details: twice.map((path) => ({ path, code: 'duplicate' })) });
  }
  return Object.fromEntries(fields);
}

/** RFC 6749 §2.3.1: both halves are encoded like a form before they are joined. */
function basicCredentials({ headers }: FastifyRequest): [string, string][] {
  const encoded = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(headers.authorization ?? '')?.[1];
  if (encoded === undefined) return [];
  const [, id = '', secret = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return [
    ['client_id', decoded(id)],
    ['client_secret', decoded(secret)],
  ];
}

/** As a form has it, and only that: a half that was not encoded brings no field of its own. */
const decoded = (half: string): string =>
  new URLSearchParams(`half=${half.replaceAll('&', '%26')}`).get('half') ?? '';
