import type { Programs } from '../../../src/installation/programs.ts';

const unexpected = (): Promise<never> => Promise.reject(new Error('The test does not expect this call.'));

/** Programs of a service that answer as a test says. */
export const programsWith = (answers: Partial<Programs>): Programs => ({
  assertCanStart: unexpected,
  migrations: unexpected,
  migrate: unexpected,
  doctor: unexpected,
  operators: unexpected,
  addOperator: unexpected,
  removeOperator: unexpected,
  ...answers,
});
