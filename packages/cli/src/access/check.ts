import type { Command } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { visible } from '../output/text.ts';
import { contextOf, contextOption } from './question.ts';
import { permissionOf, subjectArgument, subjectOf } from './subject.ts';

export const check: Command = {
  path: ['check'],
  summary: 'May a subject do something in the scope?',
  description: 'Exit code 0: allowed; 1: refused.',
  arguments: { '<subject>': subjectArgument, '<permission>': '<resource>:<action>' },
  options: contextOption,
  examples: [
    'doorward check me order:read',
    'doorward check user:ada@example.com order:approve --context @order.json',
  ],
  async run(run, [subject = '', permission = ''], options) {
    const { connection, terminal } = run;
    const asked = permissionOf(permission);
    const context = await contextOf(run, options);
    const doorward = await connection.decisions();
    const decision = await doorward.check(await subjectOf(doorward, subject), asked, context);
    const { authorized, reason } = decision;
    const word = authorized ? terminal.paint('allowed', 32) : terminal.paint('refused', 31);
    terminal.answer(`${word} ${reason} ${visible(asked)}`, decision);
    return authorized ? exitCodes.done : exitCodes.negative;
  },
};
