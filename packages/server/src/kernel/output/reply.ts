import type { DoorwardError } from '../../errors.ts';

/**
 * A response without an envelope, for the endpoints of conventions §13 and for downloads. A stream is sent unchanged.
 */
export class BareReply {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number | undefined;

  constructor(body: unknown, headers: Readonly<Record<string, string>> = {}, status?: number) {
    this.body = body;
    this.headers = headers;
    this.status = status;
  }
}

export const bare = (body: unknown, headers?: Readonly<Record<string, string>>, status?: number) =>
  new BareReply(body, headers, status);

/** Redirects a browser. With 303 the browser then sends GET, whatever the method of this request. */
export const redirect = (location: string, status: 302 | 303 = 303) => bare(null, { location }, status);

/**
 * Redirects a browser after its user has read an error: a request that accepts HTML gets a page with the error and a
 * link to the target.
 */
export class Notice extends BareReply {
  readonly error: DoorwardError;
  readonly location: string;

  constructor(location: string, error: DoorwardError) {
    super(null, { location }, 303);
    this.error = error;
    this.location = location;
  }
}

/**
 * Returned by a mutation to commit its writes (an ended session lineage, the audit entry of a refused exchange) and
 * then respond with this error. A thrown error would roll everything back.
 */
export class Refusal {
  readonly error: DoorwardError;

  constructor(error: DoorwardError) {
    this.error = error;
  }
}

export const refuse = (error: DoorwardError) => new Refusal(error);

/** The result of a dry run: the output that the change would have, and its effect on permissions. */
export class DryRunResult {
  readonly answer: unknown;
  readonly impact: unknown;

  constructor(answer: unknown, impact: unknown) {
    this.answer = answer;
    this.impact = impact;
  }
}
