import { afterEach, expect, inject, test, vi } from 'vitest';
import { openChangeChannel, type ChangeChannel } from './change-channel.ts';

/** How long an answer of the change channel is good for. Only the clock by which that is measured is in the test's hand. */
let channel: ChangeChannel | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await channel?.close();
  channel = undefined;
});

const open = () =>
  openChangeChannel({
    connection: { connectionString: inject('postgresUrl') },
    name: 'change_channel_test',
    opened: () => undefined,
    heard: () => undefined,
    log: () => undefined,
  });

test.skipIf(!inject('postgresUrl'))(
  'an answer is good for a second from the question on, however long it was on its way',
  async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    channel = await open();
    expect(channel.isTrusted()).toBe(true);
    const answer = channel.ask();
    vi.advanceTimersByTime(900);
    await answer;
    expect(channel.isTrusted()).toBe(true);
    vi.advanceTimersByTime(200);
    expect(channel.isTrusted()).toBe(false);
  },
);
