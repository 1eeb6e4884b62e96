/** The command as it is installed: `npx doorward` in an empty project. */
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { run } from './support/installation.ts';

const command = () => join(inject('bareProject'), 'node_modules/.bin/doorward');

test('prints its version and its help', async () => {
  expect(await run(command(), ['--version'], inject('bareProject'))).toMatch(
    /^\d+\.\d+\.\d+(?:-rc\.\d+)?\n$/,
  );
  expect(await run(command(), ['--help'], inject('bareProject'))).toMatch(/^ {2}who-can /m);
});

test('loads the client when a command needs it', async () => {
  const operations = await run(command(), ['__complete', '--', 'api', 'isAuth'], inject('bareProject'));
  expect(operations).toBe('isAuthorized\nisAuthorizedBatch\n');
});

test('says where the commands of the machine of the service are', async () => {
  const failed = await run(command(), ['migrate'], inject('bareProject')).catch((error: unknown) => error);
  expect(failed).toMatchObject({
    cause: { code: 2 },
    message: expect.stringContaining('The service is not installed beside this command.') as string,
  });
});
