/**
 * Creates a function that processes queued rows until `next` returns false. Concurrent calls share one pass. A call
 * during a pass makes it check once more, because its last check may have been before the caller's commit. Never
 * rejects.
 */
export function createSharedPass(
  next: () => Promise<boolean>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let pass: Promise<void> | null = null;
  let rerun = false;

  async function runPass(): Promise<void> {
    try {
      do {
        rerun = false;
        while (await next());
      } while (rerun);
    } catch (error) {
      onError(error);
    } finally {
      pass = null;
    }
  }

  return () => {
    rerun = true;
    return (pass ??= runPass());
  };
}
