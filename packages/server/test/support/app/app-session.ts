import { randomUUID } from 'node:crypto';
import { sessions } from '../../../src/schema/sign-in/session.ts';
import type { TestApp } from './app.ts';

/** A session of a user with an app, as the sign-in to the app writes it. */
export async function openAppSession(app: TestApp, appId: string, userId: string): Promise<string> {
  const id = randomUUID();
  const now = app.clock.now();
  await app.database.pool.insert(sessions).values({
    id,
    userId,
    kind: 'projectApp',
    projectAppId: appId,
    amr: ['fed'],
    authenticatedAt: now,
    lastUsedAt: now,
    expiresAt: new Date(now.getTime() + 86_400_000),
    refreshHash: id,
  });
  return id;
}
