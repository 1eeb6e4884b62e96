import type { Programs } from '../../../src/environment/programs.ts';

const unexpected = (): Promise<never> => Promise.reject(new Error('The test does not expect this call.'));

/** Stubs for the programs of the service. A program without a stub fails the test. */
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
