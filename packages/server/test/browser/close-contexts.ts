import { afterAll } from 'vitest';
import { closeContexts } from './watched.ts';

/** A setup file for every browser test file. */
afterAll(closeContexts);
