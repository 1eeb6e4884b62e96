import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { fail } from '../errors.ts';
import { parseInput } from '../kernel/input/validate.ts';
import { tooComplex } from './limits.ts';
import { structureFault } from '../http/body/json-structure.ts';

/* Parses GraphQL requests: one document or a batch by POST, one document by GET. Unknown members are ignored. */

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
  /** Absent if the client sends the hash of a persisted query instead. */
  readonly query?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly operationName?: string | null | undefined;
}

interface GraphqlRequests {
  readonly requests: readonly GraphqlRequest[];
  readonly batch: boolean;
}

/** Reads the request or the batch in the body of a POST. @throws VALIDATION_ERROR, QUERY_TOO_COMPLEX */
export function readBody({ body }: FastifyRequest, maxBatch: number): GraphqlRequests {
  if (body === undefined) throw fail('VALIDATION_ERROR', { details: [{ path: '', code: 'empty_body' }] });
  if (!Array.isArray(body)) return { requests: [parseInput(Body, body)], batch: false };
  if (body.length > maxBatch) throw tooComplex(`batch > ${maxBatch}`);
  return { requests: parseInput(Batch, body), batch: true };
}

/** Reads the query of a GET, whose parameters `variables` and `extensions` are JSON. @throws VALIDATION_ERROR */
export function readQuery({ query }: FastifyRequest): GraphqlRequests {
  const { variables, extensions, ...others } = query as Record<string, unknown>;
  const parameters = {
    ...others,
    variables: parseParameter('variables', variables),
    extensions: parseParameter('extensions', extensions),
  };
  return { requests: [parseInput(Body, parameters)], batch: false };
}

function parseParameter(path: 'variables' | 'extensions', text: unknown): unknown {
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
 * Returns the media type of the response: `application/graphql-response+json` for clients that name it and do not
 * prefer JSON, otherwise `application/json`. Body and status are the same in both.
 */
export function responseType(accept: string | undefined): string {
  const qualities = new Map<string, number>();
  for (const range of accept?.toLowerCase().split(',') ?? []) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    qualities.set(type, quality === undefined ? 1 : Number(quality) || 0);
  }
  const named = qualities.get(GRAPHQL_TYPE) ?? 0;
  const json = qualities.get(JSON_TYPE) ?? qualities.get('application/*') ?? qualities.get('*/*') ?? 0;
  return `${named > 0 && named >= json ? GRAPHQL_TYPE : JSON_TYPE}; charset=utf-8`;
}
