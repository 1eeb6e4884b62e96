import type { FastifyInstance } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';

/** The demo comes in where everybody does, over REST. */
export interface DemoRequest {
  readonly method: 'GET' | 'POST';
  /** Below `/api`. */
  readonly path: string;
  readonly token?: string | undefined;
  readonly body?: unknown;
}

export interface DemoAnswer {
  readonly status: number;
  readonly data: Record<string, unknown>;
  readonly code: string | undefined;
  /** Of a 503: it has done nothing, and may be repeated after so long. */
  readonly retryAfterSeconds?: number | undefined;
}

export type Ask = (request: DemoRequest) => Promise<DemoAnswer>;

/** Requests of this process to itself; they go all the way of those that come in by the port. */
export const createFrontDoor =
  (server: FastifyInstance, host: string): Ask =>
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

const MOST_WAITED_MS = 60_000;

/** Repeats what a busy service refused for now, as every caller may; waits for a minute in all. */
export function repeating(ask: Ask, wait: (ms: number) => Promise<unknown> = sleep): Ask {
  let waited = 0;
  return async (request) => {
    for (;;) {
      const answer = await ask(request);
      const { status, retryAfterSeconds } = answer;
      if (status !== 503 || retryAfterSeconds === undefined) return answer;
      const ms = retryAfterSeconds * 1000;
      if (waited + ms > MOST_WAITED_MS) return answer;
      waited += ms;
      await wait(ms);
    }
  };
}

/** What the service refused. Says nothing of what was sent, since that holds secrets and this is logged. */
export class DemoRefused extends Error {
  override readonly name = 'DemoRefused';
  readonly code: string | undefined;

  constructor({ method, path }: DemoRequest, { status, code }: DemoAnswer) {
    super(`${method} /api${path.replace(/\?.*/, '')} answered ${status} ${code ?? ''}`.trimEnd());
    this.code = code;
  }
}

/** The data of what must succeed. @throws DemoRefused */
export async function must(ask: Ask, request: DemoRequest): Promise<Record<string, unknown>> {
  const answer = await ask(request);
  if (answer.status >= 400) throw new DemoRefused(request, answer);
  return answer.data;
}
