/** Redis may vanish at any time: it is waited for at the start, for a second, and never again. */
export async function connectRedis(url: string, onError: (error: unknown) => void) {
  // Loaded here, because most processes have none and it is the largest of the libraries.
  const { createClient } = await import('redis');
  const client = createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: 1000,
    socket: { connectTimeout: 1000 },
  });
  client.on('error', onError);
  const connecting = client.connect().catch(() => undefined);
  await Promise.race([connecting, new Promise((resolve) => setTimeout(resolve, 1000).unref())]);
  return client;
}
