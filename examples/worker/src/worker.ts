import { DoorwardError, type Doorward } from '@doorward/node';
import { readPosition, savePosition } from './position.ts';

/**
 * Tags every user who joins the project as `new`, until the signal ends it. Events that were processed before a stop may
 * come again after it, so the work is one that can be done twice.
 */
export async function tagNewUsers(
  { api }: Doorward,
  positionFile: string,
  signal: AbortSignal,
): Promise<void> {
  const tagId = await tagNamed(api, 'new');
  const after = await readPosition(positionFile);
  const events = api.events.follow({ after, types: ['project.user_added'] }, { signal });
  try {
    for await (const event of events) {
      if (events.cursor !== null) await savePosition(positionFile, events.cursor);
      if (event.type === 'project.user_added') await tagUser(api, event.data.userId, tagId);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function tagNamed(api: Doorward['api'], name: string): Promise<string> {
  for await (const tag of api.tags.each({ search: name })) if (tag.name === name) return tag.id;
  return (await api.createTag({ name })).id;
}

async function tagUser(api: Doorward['api'], id: string, tagId: string): Promise<void> {
  try {
    await api.updateUser({ id, tagIds: [tagId] });
  } catch (error) {
    // The user has left since.
    if (!(error instanceof DoorwardError && error.code === 'NOT_FOUND')) throw error;
  }
}
