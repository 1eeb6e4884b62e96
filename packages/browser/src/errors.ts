/** The details of a failure, if they are available. */
interface ErrorFacts {
  /** HTTP status of the response. */
  readonly status?: number | undefined;
  /** What the developer or the user can do. */
  readonly fix?: string | undefined;
  /** Identifies the request in the service's log. */
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Every error of this package. `code` is a code of the service (`FORBIDDEN`), an OAuth code in lower case
 * (`access_denied`, `invalid_grant`), or one of this package:
 *
 * - `CONFIG`: an option is invalid, or the browser lacks something that sign-in needs
 * - `UNREACHABLE`, `TIMEOUT`: there was no response; `BAD_ANSWER`: the response is not from the service
 * - `STATE`: another tab or site started the sign-in; `ISSUER`: another server responded to it
 * - `SIGNED_OUT`: the call needs a session
 *
 * No message and no member contains a token or a code.
 */
export class DoorwardError extends Error {
  override readonly name = 'DoorwardError';
  readonly code: string;
  readonly status: number | undefined;
  readonly fix: string | undefined;
  readonly requestId: string | undefined;

  constructor(code: string, message: string, { status, fix, requestId, cause }: ErrorFacts = {}) {
    super(message, { cause });
    this.code = code;
    this.status = status;
    this.fix = fix;
    this.requestId = requestId;
  }
}

export const configError = (message: string): DoorwardError => new DoorwardError('CONFIG', message);
