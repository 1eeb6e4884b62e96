import { expect, test } from 'vitest';
import type { Claimed } from './queue.ts';
import type { Outcome, Send } from './sender.ts';
import { createWorkers } from './workers.ts';

/** Shutdown: attempts that can end do so, and the others are released for another process. */
const attempt = (subscriptionId: string): Claimed => ({
  deliveryId: `delivery of ${subscriptionId}`,
  tenantId: 'project',
  subscriptionId,
  url: `https://${subscriptionId}.test/`,
  id: 'evt_1',
  body: '{}',
  number: 1,
  secrets: [Buffer.alloc(32)],
  unreliable: false,
});
const delivered: Outcome = {
  attemptedAt: new Date(0),
  latencyMs: 1,
  statusCode: 204,
  error: null,
  responseBody: null,
  retryAfter: null,
};

function working(send: Send, due: Claimed[]) {
  const [settled, released, logs]: [string[], string[], string[]] = [[], [], []];
  const worker = createWorkers({
    claim: async ({ busy }) =>
      due
        .splice(0)
        .filter((claimed) => !busy.some((worker) => worker.subscriptionId === claimed.subscriptionId)),
    send,
    settle: async ({ deliveryId }) => void settled.push(deliveryId),
    release: async ({ deliveryId }) => void released.push(deliveryId),
    clock: { now: () => new Date(0) },
    log: (_, message) => void logs.push(message),
  });
  return { worker, settled, released, logs };
}
const untilAborted = (stop: AbortSignal) =>
  new Promise<never>((_, reject) => stop.addEventListener('abort', () => reject(stop.reason as Error)));

test('answers in time are recorded, attempts that hang are released, and nothing more is claimed', async () => {
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const due = [attempt('quick'), attempt('hanging')];
  const send: Send = async ({ url }, stop) => {
    if (url.includes('hanging')) return untilAborted(stop);
    await answered;
    return delivered;
  };
  const { worker, settled, released, logs } = working(send, due);
  await worker.deliverDue();
  const stopped = worker.stop(100);
  answer();
  await stopped;
  expect(settled).toEqual(['delivery of quick']);
  expect(released).toEqual(['delivery of hanging']);
  due.push(attempt('late'));
  await worker.deliverDue();
  await worker.idle();
  await worker.run(attempt('probed'));
  expect(settled).toHaveLength(1);
  expect(released).toEqual(['delivery of hanging', 'delivery of probed']);
  expect(logs).toEqual([]);
});

test('an internal failure of an attempt is logged and does not block the others', async () => {
  const send: Send = async ({ url }) => {
    if (url.includes('odd')) throw new Error('ours');
    return delivered;
  };
  const { worker, settled, released, logs } = working(send, [attempt('odd'), attempt('even')]);
  await worker.idle();
  expect(settled).toEqual(['delivery of even']);
  expect(released).toEqual([]);
  expect(logs).toEqual(['a webhook could not be delivered and will be tried again']);
});
