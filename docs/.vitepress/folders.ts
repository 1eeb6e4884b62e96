import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');
/** The service serves the site from here, if it is there. */
export const outDir = join(root, 'packages/server/dist/docs');
export const base = '/docs/';
