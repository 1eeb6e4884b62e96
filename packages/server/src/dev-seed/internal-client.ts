import type { FastifyInstance } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';

/** A REST request of the demo seed. */
export interface DemoRequest {
  readonly method: 'GET' | 'POST';
  /** Path below `/api`. */
  readonly path: string;
  readonly token?: string | undefined;
  readonly body?: unknown;
}

export interface DemoAnswer {
  readonly status: number;
  readonly data: Record<string, unknown>;
  readonly code: string | undefined;
  /** The header `Retry-After`. With a 503, the request had no effect and may be repeated after this time. */
  readonly retryAfterSeconds?: number | undefined;
}

export type SendDemoRequest = (request: DemoRequest) => Promise<DemoAnswer>;

/** Creates a client of this process's server. Its requests pass the same stages as requests from the network. */
export const createInternalClient =
  (server: FastifyInstance, host: string): SendDemoRequest =>
  async ({ method, path, token, body }) => {
    const answer = await server.inject({
      method,
      url: `/api${path}`,
      authority: host,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    const { data = {}, code } = answer.json<{ data?: Record<string, unknown>; code?: string }>();
    const retryAfter = answer.headers['retry-after'];
    const retryAfterSeconds = retryAfter === undefined ? undefined : Number(retryAfter);
    return { status: answer.statusCode, data, code, retryAfterSeconds };
  };

const MAX_WAIT_MS = 60_000;

/** Returns a client that repeats requests after a 503 with `Retry-After`. It waits for at most a minute in total. */
export function retryWhenBusy(
  send: SendDemoRequest,
  wait: (ms: number) => Promise<unknown> = sleep,
): SendDemoRequest {
  let waited = 0;
  return async (request) => {
    for (;;) {
      const answer = await send(request);
      const { status, retryAfterSeconds } = answer;
      if (status !== 503 || retryAfterSeconds === undefined) return answer;
      const ms = retryAfterSeconds * 1000;
      if (waited + ms > MAX_WAIT_MS) return answer;
      waited += ms;
      await wait(ms);
    }
  };
}

/**
 * Thrown if a request of the demo seed failed. The message is logged, so it does not contain the body, which contains
 * secrets.
 */
export class DemoRefused extends Error {
  override readonly name = 'DemoRefused';
  readonly code: string | undefined;

  constructor({ method, path }: DemoRequest, { status, code }: DemoAnswer) {
    super(`${method} /api${path.replace(/\?.*/, '')} answered ${status} ${code ?? ''}`.trimEnd());
    this.code = code;
  }
}

/** Returns the data of a request that must succeed. @throws DemoRefused */
export async function sendOrThrow(
  send: SendDemoRequest,
  request: DemoRequest,
): Promise<Record<string, unknown>> {
  const answer = await send(request);
  if (answer.status >= 400) throw new DemoRefused(request, answer);
  return answer.data;
}
