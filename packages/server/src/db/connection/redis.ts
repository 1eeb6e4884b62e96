/**
 * Connects to Redis, which may become unreachable at any time. The start of the process waits at most one second for
 * it, and later commands fail immediately. Logs one line when the connection is lost and one when it is back.
 */
export async function connectRedis(url: string, log: (message: string) => void) {
  // Imported on demand, because most processes use no Redis and the library is large.
  const { createClient } = await import('redis');
  const client = createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: 1000,
    socket: { connectTimeout: 1000 },
  });
  let lost = false;
  client.on('error', (error: NodeJS.ErrnoException) => {
    if (lost) return;
    lost = true;
    const why = error.code ?? error.name;
    log(`REDIS_URL: no answer from Redis at ${new URL(url).host} (${why}). ${MEANWHILE}`);
  });
  client.on('ready', () => {
    if (lost) log(`REDIS_URL: Redis at ${new URL(url).host} answers again.`);
    lost = false;
  });
  const connecting = client.connect().catch(() => undefined);
  await Promise.race([connecting, new Promise((resolve) => setTimeout(resolve, 1000).unref())]);
  return client;
}

const MEANWHILE =
  'Until it is back, sign-in, registration and the exchange of keys answer 503. Start it, or correct the address.';
