/**
 * Goes on with what a call answers, at once or when it comes: a call that had nothing to wait for makes no promise, and
 * so costs no turn of the event loop. What `answered` throws is refused too.
 */
export function settle<T>(
  work: () => unknown,
  answered: (answer: unknown) => T,
  refused: (error: unknown) => T,
): T | Promise<T> {
  try {
    const answer = work();
    return answer instanceof Promise ? answer.then(answered, refused) : answered(answer);
  } catch (error) {
    return refused(error);
  }
}
