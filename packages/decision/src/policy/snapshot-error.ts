/**
 * Why a document was refused. `FORMAT`: it needs a later version of this package. `SHAPE`: a member is missing or
 * invalid. `NOT_NEXT`: the changes do not follow this policy, so a whole snapshot is needed.
 */
export type SnapshotErrorCode = 'FORMAT' | 'SHAPE' | 'NOT_NEXT';

/**
 * Thrown for a snapshot or changes that cannot be used. The message names the member with the problem, and contains no
 * value of the document.
 *
 * @example try { compileSnapshot(claims) } catch (error) { if (error instanceof SnapshotError) report(error.path) }
 */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
  readonly code: SnapshotErrorCode;
  /** Path of the member with the problem, such as `users.12.roleIds.0`; empty for the document as a whole. */
  readonly path: string;
  readonly problem: string;

  constructor(code: SnapshotErrorCode, path: string, problem: string) {
    super(`${path === '' ? 'The document' : path} ${problem}.`);
    this.code = code;
    this.path = path;
    this.problem = problem;
  }

  /** The same error, with `member` in front of its path. */
  below(member: string): SnapshotError {
    return new SnapshotError(this.code, this.path === '' ? member : `${member}.${this.path}`, this.problem);
  }
}
