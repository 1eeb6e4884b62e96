/**
 * Calls `onAnswer` with the result of `work`, synchronously or when its promise resolves. Work that does not have to
 * wait creates no promise and costs no tick of the event loop. In the synchronous case, `onError` also receives errors
 * that `onAnswer` throws.
 */
export function syncOrAsync<T>(
  work: () => unknown,
  onAnswer: (answer: unknown) => T,
  onError: (error: unknown) => T,
): T | Promise<T> {
  try {
    const answer = work();
    return answer instanceof Promise ? answer.then(onAnswer, onError) : onAnswer(answer);
  } catch (error) {
    return onError(error);
  }
}
