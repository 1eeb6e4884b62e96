import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { fail } from '../errors.ts';
import { parseInput } from '../kernel/validate.ts';
import { tooComplex } from './graphql-limits.ts';
import { structureFault } from './json-structure.ts';

/** What a client of GraphQL sends: one document or a batch by POST, one by GET. Members that are not known are ignored. */
const members = z.record(z.string(), z.unknown()).nullish();
const Body = z
  .object({
    query: z.string().nullish(),
    variables: members,
    operationName: z.string().nullish(),
    extensions: members,
  })
  .superRefine(({ query, extensions }, context) => {
    if (typeof query === 'string' || extensions?.['persistedQuery']) return;
    context.addIssue({ code: 'custom', path: ['query'], params: { code: 'required' } });
  });
const Batch = z.array(Body).min(1);

export interface GraphqlRequest {
  /** Absent where the client sends the hash of a document that it hopes is known. */
  readonly query?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly operationName?: string | null | undefined;
}

export interface GraphqlRequests {
  readonly requests: readonly GraphqlRequest[];
  readonly batch: boolean;
}

/** @throws VALIDATION_ERROR, QUERY_TOO_COMPLEX */
export function fromBody({ body }: FastifyRequest, most: number): GraphqlRequests {
  if (body === undefined) throw fail('VALIDATION_ERROR', { details: [{ path: '', code: 'empty_body' }] });
  if (!Array.isArray(body)) return { requests: [parseInput(Body, body)], batch: false };
  if (body.length > most) throw tooComplex(`batch > ${most}`);
  return { requests: parseInput(Batch, body), batch: true };
}

/** Parameters of a GET, of which two are JSON. @throws VALIDATION_ERROR */
export function fromQuery({ query }: FastifyRequest): GraphqlRequests {
  const { variables, extensions, ...others } = query as Record<string, unknown>;
  const parameters = {
    ...others,
    variables: parsed('variables', variables),
    extensions: parsed('extensions', extensions),
  };
  return { requests: [parseInput(Body, parameters)], batch: false };
}

function parsed(path: 'variables' | 'extensions', text: unknown): unknown {
  if (typeof text !== 'string') return text;
  const refused = (code: 'malformed_json' | 'too_deep' | 'too_long') =>
    fail('VALIDATION_ERROR', { details: [{ path, code }] });
  const fault = structureFault(text);
  if (fault) throw refused(fault);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw refused('malformed_json');
  }
}

const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

/**
 * The media type of an answer. That of GraphQL over HTTP goes only to clients that name it and do not prefer JSON; the
 * body is JSON in both cases, with the same status.
 */
export function answerType(accept: string | undefined): string {
  const qualities = new Map<string, number>();
  for (const range of accept?.toLowerCase().split(',') ?? []) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((one) => one.startsWith('q='))?.slice(2);
    qualities.set(type, quality === undefined ? 1 : Number(quality) || 0);
  }
  const named = qualities.get(GRAPHQL_TYPE) ?? 0;
  const json = qualities.get(JSON_TYPE) ?? qualities.get('application/*') ?? qualities.get('*/*') ?? 0;
  return `${named > 0 && named >= json ? GRAPHQL_TYPE : JSON_TYPE}; charset=utf-8`;
}
