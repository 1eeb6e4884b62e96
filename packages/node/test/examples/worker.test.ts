import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { tagNewUsers } from '../../../../examples/worker/src/worker.ts';
import { roleIdOf } from '../../../server/src/schema/rights/built-in-ids.ts';
import { createDoorward } from '../../src/node.ts';
import type { Doorward } from '../../src/client/doorward.ts';
import { projectWithKey, serveApp, type ServiceUnderTest } from '../support/service.ts';

/** examples/worker with the real service. */
let service: ServiceUnderTest;
let doorward: Doorward;
let directory: string;

beforeAll(async () => {
  service = await serveApp();
  const { options } = await projectWithKey(service, { roleId: roleIdOf('Project Admin') });
  doorward = createDoorward(options);
  directory = await mkdtemp(join(tmpdir(), 'doorward-worker-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await service.close();
});

const tagsOf = async (id: string): Promise<string[]> => {
  const user = await doorward.api.user({ id, relations: ['tags'] });
  return (user.tags ?? []).map(({ name }) => name);
};
const addUser = (name: string): Promise<{ id: string }> => doorward.api.createUser({ name });

it('tags the users who join, and continues after a stop', async () => {
  const positionFile = join(directory, 'position.txt');
  const { id: first } = await addUser('Grace');

  const stop = new AbortController();
  const work = tagNewUsers(doorward, positionFile, stop.signal);
  await vi.waitFor(async () => expect(await tagsOf(first)).toEqual(['new']), {
    timeout: 60_000,
    interval: 100,
  });
  const { id: second } = await addUser('Hedy');
  await vi.waitFor(async () => expect(await tagsOf(second)).toEqual(['new']), {
    timeout: 60_000,
    interval: 100,
  });
  stop.abort();
  await work;
  expect(await readFile(positionFile, 'utf8')).not.toBe('');

  const { id: third } = await addUser('Joan');
  expect(await tagsOf(third)).toEqual([]);
  const again = new AbortController();
  const rest = tagNewUsers(doorward, positionFile, again.signal);
  await vi.waitFor(async () => expect(await tagsOf(third)).toEqual(['new']), {
    timeout: 60_000,
    interval: 100,
  });
  again.abort();
  await rest;
  expect((await doorward.api.tags({})).items.map(({ name }) => name)).toEqual(['new']);
});
