import { STATUS_CODES } from 'node:http';
import type { DoorwardError } from '../errors.ts';
import type { Language } from '../i18n/translate.ts';
import { graphqlError, restErrorBody, type ErrorContext } from './error-body.ts';

/**
 * One refusal as it is told to everybody: prepared, since a flood must not pay for its refusals. What differs is the
 * language, whether GraphQL was asked, and the id of the request.
 */
export interface RefusalText {
  /** What is not the same for everybody: names and values by turns, as in `RefusalTexts.fields`. */
  readonly own: readonly string[];
  readonly body: string;
}

export interface RefusalTexts {
  /** Of each. */
  readonly fields: readonly string[];
  readonly textTo: (asked: ErrorContext & { readonly isGraphql: boolean }) => RefusalText;
  /** The same as it goes over the wire, on a connection that stays open for so many seconds. */
  readonly onTheWire: (text: RefusalText, keptSeconds: number) => string;
}

/** Stands for the id where a body is prepared. */
const ID = '{id}';

/** `headers`: those of every answer. */
export function createRefusalTexts(
  refusal: DoorwardError,
  headers: Readonly<Record<string, string>>,
): RefusalTexts {
  const fields = Object.entries({
    ...headers,
    ...refusal.extras.headers,
    vary: 'Accept-Language, Origin',
    'content-type': 'application/json; charset=utf-8',
  }).flat();
  const firstLine = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n`;
  const head = `${firstLine}${linesOf(fields)}connection: keep-alive\r\n`;
  const bodies = new Map<string, readonly string[]>();

  /** In pieces, between which the id belongs. */
  function piecesOf(isGraphql: boolean, language: Language): readonly string[] {
    const name = `${language} ${isGraphql}`;
    const known = bodies.get(name);
    if (known) return known;
    const context = { language, requestId: ID };
    const body = isGraphql
      ? { data: null, errors: [graphqlError(refusal, context)] }
      : restErrorBody(refusal, context);
    const pieces = JSON.stringify(body).split(ID);
    bodies.set(name, pieces);
    return pieces;
  }

  return {
    fields,
    textTo({ isGraphql, language, requestId }) {
      const body = piecesOf(isGraphql, language).join(requestId);
      const length = String(Buffer.byteLength(body));
      const own = ['x-request-id', requestId, 'content-language', language, 'content-length', length];
      return { own, body };
    },
    onTheWire({ own, body }, keptSeconds) {
      return `${head}keep-alive: timeout=${keptSeconds}\r\n${linesOf(own)}\r\n${body}`;
    },
  };
}

function linesOf(fields: readonly string[]): string {
  let lines = '';
  for (let at = 0; at < fields.length; at += 2) lines += `${fields[at]}: ${fields[at + 1]}\r\n`;
  return lines;
}
