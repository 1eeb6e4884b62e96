import { inArray } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import {
  createReceivers,
  enqueue,
  subscribe,
  type Receivers,
  type Subscribed,
} from '../../../test/support/tenants/webhooks.ts';
import { webhookDeliveries } from '../../schema/webhooks/webhook-delivery.ts';
import { webhookSubscriptions } from '../../schema/webhooks/webhook-subscription.ts';
import { createClaim, type Claimed, type Capacity } from './queue.ts';

/** Receivers that answer late: which deliveries they delay. */
let app: TestApp;
let receivers: Receivers;
let token: string;
let account: Awaited<ReturnType<TestApp['person']>>['account'];
beforeAll(async () => {
  const later: { receivers?: Receivers } = {};
  app = await startApp({}, undefined, {
    post: (request, signal) => (later.receivers as Receivers).post(request, signal),
  });
  receivers = later.receivers = createReceivers(() => app.clock.now());
  ({ token, account } = await app.person());
});
afterAll(() => app.close());

let answer: (status: number) => void;
let answered: Promise<number>;
let flushing: Promise<void>[];
beforeEach(() => {
  receivers.received.length = 0;
  receivers.reactions.clear();
  flushing = [];
  answered = new Promise((resolve) => (answer = resolve));
});
afterEach(async () => {
  answer(200);
  await Promise.all(flushing);
});

const flush = () => void flushing.push(app.app.flushWebhooks());

/** Creates a project with this many receivers, each with this many due deliveries. */
async function project(name: string, receiversOfIt: number, deliveries: number): Promise<Subscribed[]> {
  const { id } = await app.must('createProject', { scope: account, name }, { token });
  const subscribed: Subscribed[] = [];
  for (let index = 0; index < receiversOfIt; index++) {
    subscribed.push(await subscribe(app, id, `https://${name}-${index}.test/`));
  }
  for (const item of subscribed) await enqueue(app, item, deliveries);
  return subscribed;
}
/** Lets these receivers answer only when the test calls `answer`. */
function holdUp(name: string, count: number): void {
  for (let index = 0; index < count; index++) receivers.reactions.set(`${name}-${index}.test`, answered);
}
const sentTo = (name: string) => receivers.received.filter(({ url }) => url.hostname.startsWith(`${name}-`));
const hostsOf = (name: string) => new Set(sentTo(name).map(({ url }) => url.hostname)).size;

describe('a receiver that answers late', () => {
  test('delays no other project, however many late receivers a project has', { tags: 'race' }, async () => {
    holdUp('crowd', 70);
    await project('crowd', 70, 2);
    flush();
    await expect.poll(() => hostsOf('crowd')).toBeGreaterThan(0);
    await project('quiet', 1, 3);
    flush();
    await expect.poll(() => sentTo('quiet').length).toBe(3);
  });

  test(
    'delivers to other receivers while late ones of many projects have not answered',
    { tags: 'race' },
    async () => {
      for (let index = 0; index < 10; index++) {
        holdUp(`many-${index}`, 8);
        await project(`many-${index}`, 8, 1);
      }
      flush();
      // All workers for reliable receivers are busy. After a second a receiver counts as late, which frees its slot for
      // others.
      await expect.poll(() => hostsOf('many')).toBeGreaterThanOrEqual(64);
      await project('behind', 1, 1);
      flush();
      await expect.poll(() => sentTo('behind').length).toBe(1);
    },
  );
});

describe('a claim', () => {
  const claim = (room: Partial<Capacity>) =>
    createClaim({ pool: app.database.pool, kek: app.app.kek, leaseMs: 45_000, log: () => undefined })(
      { busy: [], reliable: 0, unreliable: 0, ...room },
      app.clock.now(),
    );
  const makeSlow = (subscribed: readonly Subscribed[]) =>
    app.database.pool
      .update(webhookSubscriptions)
      .set({ slow: true })
      .where(
        inArray(
          webhookSubscriptions.id,
          subscribed.map(({ id }) => id),
        ),
      );
  /** The number of claimed subscriptions of each project, in order. */
  const shares = (claimed: readonly Claimed[], ...projects: (readonly Subscribed[])[]) =>
    projects.map((subscribed) => {
      const ids = new Set(claimed.map(({ subscriptionId }) => subscriptionId));
      return subscribed.filter(({ id }) => ids.has(id)).length;
    });
  beforeEach(() => app.database.pool.update(webhookSubscriptions).set({ active: false }));

  test('gives each project an equal share, whatever the size and age of its backlog', async () => {
    const [large, middle, small] = [
      await project('large', 6, 20),
      await project('middle', 2, 1),
      await project('small', 1, 1),
    ];
    expect(shares(await claim({ reliable: 6 }), large, middle, small)).toEqual([3, 2, 1]);
  });

  test('goes first to the project with the fewest workers', async () => {
    const [large, middle, small] = [
      await project('large', 6, 20),
      await project('middle', 2, 1),
      await project('small', 1, 1),
    ];
    const busy = large.slice(0, 3).map(({ id, projectId }) => ({
      subscriptionId: id,
      tenantId: projectId,
      unreliable: false,
    }));
    expect(shares(await claim({ busy, reliable: 3 }), large, middle, small)).toEqual([0, 2, 1]);
  });

  test('leaves workers for projects that are idle now', async () => {
    const crowd = await project('crowd', 20, 1);
    expect(shares(await claim({ reliable: 64 }), crowd)).toEqual([8]);
    await makeSlow(crowd);
    await app.database.pool.update(webhookDeliveries).set({ claimedUntil: null });
    expect(shares(await claim({ reliable: 64, unreliable: 32 }), crowd)).toEqual([4]);
  });

  test('takes one delivery of a slow receiver while others wait, and several otherwise', async () => {
    const slow = await project('slow', 2, 20);
    await makeSlow(slow);
    expect(await claim({ unreliable: 1 })).toHaveLength(1);
    await app.database.pool.update(webhookDeliveries).set({ claimedUntil: null });
    expect(await claim({ unreliable: 2 })).toHaveLength(20);
  });

  test('takes nothing of a slow receiver that another process is sending to', async () => {
    const slow = await project('slow', 1, 20);
    await makeSlow(slow);
    expect(await claim({ unreliable: 1 })).toHaveLength(10);
    expect(await claim({ unreliable: 1 })).toEqual([]);
    const quick = await project('quick', 1, 20);
    expect(shares(await claim({ reliable: 1 }), quick)).toEqual([1]);
    expect(shares(await claim({ reliable: 1 }), quick)).toEqual([1]);
  });
});
