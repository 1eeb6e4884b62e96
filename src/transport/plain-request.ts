/**
 * A request as almost every client sends it, read without a parser of HTTP: whole, alone in what arrived, its length told
 * by `Content-Length` and nothing else. What is in doubt is not plain, and left to the parser: two readers of one
 * connection must never differ about where a request ends (RFC 9112 §11.2).
 */
export interface PlainRequest {
  readonly method: string;
  /** As it stands in the first line. */
  readonly url: string;
  /** Names and values by turns, as Node tells them in `rawHeaders`. */
  readonly rawHeaders: readonly string[];
  /** Those fields of it that somebody may need, by name in lower case. */
  readonly headers: Readonly<Partial<Record<Told, string>>>;
}

/** Each at most once; of all others nothing depends on how often they are sent. */
const told = ['host', 'content-length', 'connection', 'x-request-id', 'accept-language', 'origin'] as const;
type Told = (typeof told)[number];
/** They change how the connection goes on, or where the request ends. */
const needParser = ['transfer-encoding', 'expect', 'upgrade', 'proxy-connection'] as const;
const known = new Map<string, Told | null>([
  ...told.map((name) => [name, name] as const),
  ...needParser.map((name) => [name, null] as const),
]);

/** Bytes; a parser of its own may refuse what is longer. */
const LONGEST_HEAD = 8192;
const firstLine = /^([A-Z]{3,7}) (\/[\x21-\x7e]*) HTTP\/1\.1\r\n/;
const field = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\x21-\x7e][\t\x20-\x7e]*)\r\n/y;

/** Null when it is not plain. */
export function readPlainRequest(chunk: Buffer): PlainRequest | null {
  const bodyAt = chunk.indexOf('\r\n\r\n') + 4;
  if (bodyAt < 4 || bodyAt > LONGEST_HEAD) return null;
  const head = chunk.toString('latin1', 0, bodyAt);
  const line = firstLine.exec(head);
  if (!line) return null;
  const [{ length }, method = '', url = ''] = line;
  const rawHeaders: string[] = [];
  const headers: Partial<Record<Told, string>> = {};
  let at = length;
  while (at < bodyAt - 2) {
    field.lastIndex = at;
    const found = field.exec(head);
    if (!found) return null;
    const [, name = '', value = ''] = found;
    const trimmed = value.trimEnd();
    const own = known.get(name.toLowerCase());
    if (own !== undefined) {
      if (own === null || headers[own] !== undefined) return null;
      headers[own] = trimmed;
    }
    rawHeaders.push(name, trimmed);
    at = field.lastIndex;
  }
  const { host, connection = 'keep-alive', 'content-length': bytes = '0' } = headers;
  const isWhole = /^\d{1,9}$/.test(bytes) && Number(bytes) === chunk.length - bodyAt;
  if (!isWhole || host === undefined || connection.toLowerCase() !== 'keep-alive') return null;
  return { method, url, rawHeaders, headers };
}
