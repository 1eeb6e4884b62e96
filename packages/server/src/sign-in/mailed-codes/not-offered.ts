import { fail, type DoorwardError } from '../../errors.ts';

export const notOffered = (): DoorwardError =>
  fail('PROVIDER_NOT_CONFIGURED', { fix: 'Sign in in a way that the app offers.' });
