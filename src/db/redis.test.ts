import { expect, test } from 'vitest';
import { freePort } from '../../scripts/service.ts';
import { connectRedis } from './redis.ts';

test('a Redis that is not there is told of once, however often it is tried', async () => {
  const port = await freePort();
  const told: string[] = [];
  const client = await connectRedis(`redis://user:hush@127.0.0.1:${port}`, (message) => told.push(message));
  const errors: unknown[] = [];
  client.on('error', (error) => errors.push(error));
  await expect.poll(() => errors.length, { timeout: 10_000 }).toBeGreaterThan(1);
  client.destroy();
  expect(told).toEqual([
    expect.stringMatching(
      `^REDIS_URL: no answer from Redis at 127\\.0\\.0\\.1:${port} \\(ECONNREFUSED\\)\\. `,
    ),
  ]);
});
