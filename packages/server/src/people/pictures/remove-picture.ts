import { eq } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { pictures } from '../../schema/people/picture.ts';

/** Deletes the picture. The caller updates `users.pictureUrl`. */
export async function removePicture(tx: Executor, userId: string): Promise<void> {
  await tx.delete(pictures).where(eq(pictures.userId, userId));
}
