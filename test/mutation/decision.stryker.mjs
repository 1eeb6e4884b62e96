import { options } from './stryker.mjs';

export default options('decision', ['packages/decision/src/**/*.ts', '!**/*.test.ts']);
