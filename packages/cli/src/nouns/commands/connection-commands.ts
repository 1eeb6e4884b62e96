import type { Command } from '../../command.ts';
import { exitCodes } from '../../exit-codes.ts';
import { makeChange } from '../change.ts';
import { findId, argumentHelp } from '../find.ts';
import { withoutDryRun } from '../noun.ts';
import { connections } from '../nouns.ts';

const test: Command = {
  path: ['connections', 'test'],
  summary: 'Ask the provider of a connection for its metadata and keys',
  description: 'Ends with 1 if the provider does not answer as it should.',
  arguments: { '<connection>': argumentHelp(connections) },
  async run(run, [name = '']) {
    const doorward = await run.connection.inScope({ changes: true });
    const input = { id: await findId(run, doorward, connections, name) };
    const answer = await makeChange(run, doorward, {
      change: withoutDryRun('testOrganizationConnection'),
      input,
    });
    if (!answer) return;
    run.terminal.answer(String(answer['message']), answer);
    return answer['ok'] === true ? exitCodes.done : exitCodes.negative;
  },
};

export const connectionCommands: readonly Command[] = [test];
