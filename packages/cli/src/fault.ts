import { exitCodeOfStatus, exitCodes } from './exit-codes.ts';

/** An invalid field of a file or of the input. */
export interface FaultDetail {
  readonly path: string;
  readonly message: string;
  readonly code: string;
}

/** The error that ends a run without a result: a message, a code and a hint what to do. */
export class Fault extends Error {
  readonly exitCode: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: readonly FaultDetail[];

  constructor(
    exitCode: number,
    code: string,
    message: string,
    hint?: string,
    details: readonly FaultDetail[] = [],
  ) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
    this.hint = hint;
    this.details = details;
  }
}

export const usageFault = (message: string, hint?: string): Fault =>
  new Fault(exitCodes.usage, 'USAGE', message, hint);

export const notSignedIn = (message = 'You are not signed in.'): Fault =>
  new Fault(
    exitCodes.notSignedIn,
    'NOT_SIGNED_IN',
    message,
    'doorward login, or set DOORWARD_TOKEN, or DOORWARD_CLIENT_ID and DOORWARD_CLIENT_SECRET',
  );

/** The members of an error that are shown, whether it comes from this program or from the client. */
export interface ShownFault {
  readonly exitCode: number;
  readonly code: string;
  readonly message: string;
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
  readonly requestId?: string | undefined;
  readonly details: readonly FaultDetail[];
}

/** Recognizes errors of the client by their members, so that showing an error doesn't load the client. */
export function shownFault(error: unknown): ShownFault {
  if (error instanceof Fault) {
    const { exitCode, code, message, hint, details } = error;
    return { exitCode, code, message, hint, details };
  }
  const facts = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (!(error instanceof Error) || typeof facts['code'] !== 'string' || !('retryable' in facts))
    return { exitCode: exitCodes.notReached, code: 'UNEXPECTED', message: `${String(error)}`, details: [] };
  const { code, message } = error as Error & { code: string };
  const text = (name: string) => (typeof facts[name] === 'string' ? facts[name] : undefined);
  const status = typeof facts['status'] === 'number' ? facts['status'] : undefined;
  return {
    exitCode: exitCodeOf(code, status),
    ...{ code, message, status, reason: text('reason'), requestId: text('requestId') },
    hint: hintOf(code, status) ?? text('fix') ?? hintWithoutFix[code],
    details: (facts['details'] ?? []) as ShownFault['details'],
  };
}

function exitCodeOf(code: string, status: number | undefined): number {
  if (code === 'CONFIG') return exitCodes.usage;
  if (code === 'BAD_ANSWER') return exitCodes.notReached;
  if (code === 'ABORTED') return exitCodes.interrupted;
  if (code === 'SECRET_LOST') return exitCodes.conflict;
  return status === undefined ? exitCodes.notReached : exitCodeOfStatus(status);
}

/** Hints for API errors that may come without a `fix`. */
const hintWithoutFix: Readonly<Record<string, string>> = {
  STEP_UP_REQUIRED: 'doorward login, then run the command again',
};

/** Hints about this program, which are more useful here than the `fix` from the API. */
function hintOf(code: string, status: number | undefined): string | undefined {
  if (code === 'SCOPE_REQUIRED')
    return 'name a scope: -s <tenant>:<id>, --org <slug>, --account, --project <slug>';
  if (code === 'UNREACHABLE') return 'check --url, and that the service runs';
  if (code === 'TIMEOUT') return 'check --url, or give more time: --timeout 120';
  if (code === 'MFA_REQUIRED') return 'doorward login asks for the second factor';
  return status === 401 ? 'doorward whoami says who the service takes you for; doorward login' : undefined;
}
