/**
 * Why a document was refused. `FORMAT`: only a later version of this package reads its format. `SHAPE`: a member is
 * missing or not as the format says. `NOT_NEXT`: the changes do not continue this policy, so a whole snapshot is
 * needed.
 */
export type SnapshotErrorCode = 'FORMAT' | 'SHAPE' | 'NOT_NEXT';

/**
 * A snapshot or changes that cannot be used. Its message names the member with the problem, and contains no value
 * of the document.
 *
 * @example try { compileSnapshot(claims) } catch (error) { if (error instanceof SnapshotError) report(error.path) }
 */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
  readonly code: SnapshotErrorCode;
  /** The member with the problem, as in `users.12.roleIds.0`; empty for the document as a whole. */
  readonly path: string;
  readonly problem: string;

  constructor(code: SnapshotErrorCode, path: string, problem: string) {
    super(`${path === '' ? 'The document' : path} ${problem}.`);
    this.code = code;
    this.path = path;
    this.problem = problem;
  }

  /** The same error, with the member before its path. */
  below(member: string): SnapshotError {
    return new SnapshotError(this.code, this.path === '' ? member : `${member}.${this.path}`, this.problem);
  }
}
