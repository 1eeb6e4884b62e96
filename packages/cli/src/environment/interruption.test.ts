import { expect, test } from 'vitest';
import { Interruption } from './interruption.ts';

/** Protected work is, for example, saving a renewed session: the service accepts each refresh token only once. */
test('the first Ctrl-C waits for protected work', async () => {
  const interruption = new Interruption();
  const order: string[] = [];
  let finish = (): void => undefined;
  const work = new Promise<void>((resolve) => (finish = resolve)).then(() => order.push('work'));
  void interruption.protect(work);
  interruption.interrupt();
  expect(interruption.signal.aborted).toBe(true);
  const settled = interruption.settled().then((mayReport) => order.push(`settled ${mayReport}`));
  finish();
  await settled;
  expect(order).toEqual(['work', 'settled true']);
});

test('the second Ctrl-C does not', async () => {
  const interruption = new Interruption();
  void interruption.protect(new Promise(() => undefined));
  interruption.interrupt();
  interruption.interrupt();
  expect(await interruption.settled()).toBe(false);
});

test('work that fails ends the wait too', async () => {
  const interruption = new Interruption();
  const work = interruption.protect(Promise.reject(new Error('lost')));
  await expect(work).rejects.toThrow('lost');
  interruption.interrupt();
  expect(await interruption.settled()).toBe(true);
});
