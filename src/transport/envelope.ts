import { onceForFrozen } from '../frozen.ts';

/** A success over REST, as text (conventions §2). */
export const envelope = (data: unknown): string =>
  typeof data === 'object' && data !== null ? ofObject(data) : text(data);

const text = (data: unknown): string => JSON.stringify({ success: true, data });
const ofObject = onceForFrozen<object, string>(text);
