import { createDoorward } from '@doorward/node';
import { tagNewUsers } from './worker.ts';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

await tagNewUsers(createDoorward(), process.env['POSITION_FILE'] ?? 'position.txt', stop.signal);
