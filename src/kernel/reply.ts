/**
 * What a run returns when its answer is not simply data in the envelope.
 * A `Refusal` is special: it lets a mutation keep what it wrote (an ended session family, the audit entry of
 * a refused exchange) although the caller is told of a failure. A thrown error rolls everything back.
 */
import type { DoorwardError } from '../errors.ts';

/** An answer without envelope, at the addresses of conventions §13 and for downloads. A stream is sent as it is. */
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

/** Sends a browser elsewhere: 303 asks there with GET, whatever was asked here. */
export const redirect = (location: string, status: 302 | 303 = 303) => bare(null, { location }, status);

/**
 * Sends a browser elsewhere, but not before its user has read why: whoever asks for HTML gets a page that tells of the
 * error and has a link there.
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

/** Commit what was written, then answer this error. */
export class Refusal {
  readonly error: DoorwardError;

  constructor(error: DoorwardError) {
    this.error = error;
  }
}

export const refuse = (error: DoorwardError) => new Refusal(error);

/** What a dry run leads to: the answer that the change would have had, and what it would have done to rights. */
export class Rehearsed {
  readonly answer: unknown;
  readonly impact: unknown;

  constructor(answer: unknown, impact: unknown) {
    this.answer = answer;
    this.impact = impact;
  }
}
