import { expressServer } from './express-server.ts';
import { fastifyServer } from './fastify-server.ts';
import { honoServer } from './hono-server.ts';
import { nestServer } from './nest-server.ts';
import { nextServer } from './next-server.ts';
import type { StartServer } from './servers.ts';

export const frameworks: readonly (readonly [name: string, start: StartServer])[] = [
  ['Express', expressServer],
  ['Fastify', fastifyServer],
  ['Hono', honoServer],
  ['NestJS', nestServer],
  ['Next.js', nextServer],
];
