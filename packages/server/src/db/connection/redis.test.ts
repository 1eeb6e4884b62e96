import { expect, test } from 'vitest';
import { freePort } from '../../../../../scripts/service.ts';
import { connectRedis } from './redis.ts';

test('an unreachable Redis is logged once, regardless of the number of attempts', async () => {
  const port = await freePort();
  const reported: string[] = [];
  const client = await connectRedis(`redis://user:hush@127.0.0.1:${port}`, (message) =>
    reported.push(message),
  );
  const errors: unknown[] = [];
  client.on('error', (error) => errors.push(error));
  await expect.poll(() => errors.length, { timeout: 10_000 }).toBeGreaterThan(1);
  client.destroy();
  expect(reported).toEqual([
    expect.stringMatching(
      `^REDIS_URL: no answer from Redis at 127\\.0\\.0\\.1:${port} \\(ECONNREFUSED\\)\\. `,
    ),
  ]);
});
