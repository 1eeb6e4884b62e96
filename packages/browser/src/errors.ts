/** The facts of a failure, as far as they are known. */
interface ErrorFacts {
  /** Status of the answer. */
  readonly status?: number | undefined;
  /** What the developer or the user can do. */
  readonly fix?: string | undefined;
  /** Names the request in the log of the service. */
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Every error of this package. `code` is a code of the service (`FORBIDDEN`), an OAuth code in lower case
 * (`access_denied`, `invalid_grant`), or one of this package:
 *
 * - `CONFIG`: an option is wrong, or the browser lacks what sign-in needs
 * - `UNREACHABLE`, `TIMEOUT`: no answer came; `BAD_ANSWER`: the answer is not from the service
 * - `STATE`: this tab did not start the sign-in that came back; `ISSUER`: another server answered it
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
