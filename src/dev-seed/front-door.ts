/** The demo comes in where everybody does, over REST; how a request is carried is said by whoever starts it. */
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
}

export type Ask = (request: DemoRequest) => Promise<DemoAnswer>;

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
