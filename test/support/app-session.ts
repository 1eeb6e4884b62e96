import { randomUUID } from 'node:crypto';
import { sessions } from '../../src/features/me/session.ts';
import type { TestApp } from './app.ts';

/** A session that a user has with an app, as a sign-in to it leaves it behind. */
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
