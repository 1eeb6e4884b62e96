import { afterAll } from 'vitest';
import { closeContexts } from './watched.ts';

/** Runs with every file of browser tests. */
afterAll(closeContexts);
