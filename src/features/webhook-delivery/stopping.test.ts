import { expect, test } from 'vitest';
import type { Claimed } from './queue.ts';
import type { Outcome, Send } from './sender.ts';
import { createWorkers } from './workers.ts';

/** A process that stops: what can end does, the rest is given back for another process to send. */
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
      due.splice(0).filter((one) => !busy.some((worker) => worker.subscriptionId === one.subscriptionId)),
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

test('what is answered in time is written down, what hangs is given back, and nothing more is taken', async () => {
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const due = [attempt('quick'), attempt('hanging')];
  const send: Send = async ({ url }, stop) => {
    if (url.includes('hanging')) return untilAborted(stop);
    await answered;
    return delivered;
  };
  const { worker, settled, released, logs } = working(send, due);
  await worker.look();
  const stopped = worker.stop(100);
  answer();
  await stopped;
  expect(settled).toEqual(['delivery of quick']);
  expect(released).toEqual(['delivery of hanging']);
  due.push(attempt('late'));
  await worker.look();
  await worker.idle();
  await worker.run(attempt('probed'));
  expect(settled).toHaveLength(1);
  expect(released).toEqual(['delivery of hanging', 'delivery of probed']);
  expect(logs).toEqual([]);
});

test('an attempt that goes wrong in ourselves is told and keeps no other from its end', async () => {
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
