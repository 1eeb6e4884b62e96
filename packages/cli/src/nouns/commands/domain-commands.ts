import type { Command } from '../../command.ts';
import { makeChange } from '../change.ts';
import { findRow, idOfRow, argumentHelp } from '../find.ts';
import { withoutDryRun } from '../noun.ts';
import { domains } from '../nouns.ts';

const verify: Command = {
  path: ['domains', 'verify'],
  summary: 'Look for the DNS record that proves a domain',
  arguments: { '<domain>': argumentHelp(domains) },
  async run(run, [name = '']) {
    const doorward = await run.connection.inScope({ changes: true });
    const input = { id: idOfRow(domains, await findRow(run, doorward, domains, name)) };
    const row = await makeChange(run, doorward, { change: withoutDryRun('verifyOrganizationDomain'), input });
    if (row) run.terminal.record(row, domains.columns);
  },
};

export const domainCommands: readonly Command[] = [verify];
