import type { Command } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { usageFault } from '../fault.ts';
import { withPrograms } from '../environment/programs.ts';
import { environmentOf, environmentOptions } from './service-environment.ts';

export const migrate: Command = {
  path: ['migrate'],
  summary: 'Bring the schema of the database to the version of the service',
  description:
    'Runs where the service is installed, with its configuration. Several runs wait for each other. A database that a newer version has used is refused.',
  options: {
    '--status': 'list the migrations, change nothing',
    '--check': 'end with 1 if some are pending, change nothing',
    ...environmentOptions,
  },
  async run(run, _args, options) {
    const [lists, checks] = [options.flag('status'), options.flag('check')];
    if (lists && checks) throw usageFault('--status and --check do not go together.');
    const env = await environmentOf(run, options);
    const changes = !lists && !checks && !run.flags.dryRun;
    const work = withPrograms(run, (programs) =>
      changes ? programs.migrate(env) : programs.migrations(env),
    );
    const report = await run.terminal.waiting(work);
    for (const warning of report.warnings) run.terminal.note(`warning: ${warning}`);
    const pending = report.migrations.filter(({ state }) => state === 'pending').length;
    const lines = [
      ...(lists || run.flags.dryRun ? report.migrations.map(({ name, state }) => `${state}  ${name}`) : []),
      `${report.migrations.length - pending} applied, ${pending} pending${report.unknown > 0 ? `, ${report.unknown} of a newer version` : ''}`,
    ];
    run.terminal.answer(lines.join('\n'), report);
    return checks && pending > 0 ? exitCodes.negative : exitCodes.done;
  },
};
