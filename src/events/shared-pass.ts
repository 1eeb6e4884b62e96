/**
 * A pass over queued rows, one after the other until `next` finds none. Calls that meet share one pass, and a pass that
 * runs looks once more for each call, since it may have looked before the caller's row was committed. Never rejects.
 */
export function sharedPass(
  next: () => Promise<boolean>,
  failed: (error: unknown) => void,
): () => Promise<void> {
  let pass: Promise<void> | null = null;
  let again = false;

  async function whole(): Promise<void> {
    try {
      do {
        again = false;
        while (await next());
      } while (again);
    } catch (error) {
      failed(error);
    } finally {
      pass = null;
    }
  }

  return () => {
    again = true;
    return (pass ??= whole());
  };
}
