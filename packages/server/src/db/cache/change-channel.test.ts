import { afterEach, expect, inject, test, vi } from 'vitest';
import { openChangeChannel, type ChangeChannel } from './change-channel.ts';

/** How long the change channel is trusted after an answer. Only `performance` is faked. */
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
    onOpened: () => undefined,
    onAnnouncement: () => undefined,
    log: () => undefined,
  });

test.skipIf(!inject('postgresUrl'))(
  'is trusted for one second from the time of the question, not of the answer',
  async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    channel = await open();
    expect(channel.isTrusted()).toBe(true);
    const answer = channel.sync();
    vi.advanceTimersByTime(900);
    await answer;
    expect(channel.isTrusted()).toBe(true);
    vi.advanceTimersByTime(200);
    expect(channel.isTrusted()).toBe(false);
  },
);
