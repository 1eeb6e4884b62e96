import { freePort } from '../../../../../scripts/service.ts';
import { startApp, type TestApp } from './app.ts';

/** A service that listens at its own address, as libraries need that connect to the issuer. */
export async function startAtOwnAddress(
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly app: TestApp; readonly base: string }> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const app = await startApp({
    APP_URL: base,
    SECURITY_ADDITIONAL_ORIGINS: 'http://localhost:4000',
    ...settings,
  });
  await app.server.listen({ host: '127.0.0.1', port });
  return { app, base };
}
