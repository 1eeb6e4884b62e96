import type { Server } from 'node:http';

/** The URL to which a browser is redirected. */
export async function redirectOf(name: string, url: string): Promise<string> {
  const response = await fetch(url, { redirect: 'manual' });
  const location = response.headers.get('location');
  if (response.status !== 302 || !location) throw new Error(`${name}: ${await response.text()}`);
  return location;
}

export const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });
