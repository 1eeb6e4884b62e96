import { offboard } from './onboard.ts';
import { account, machine, project } from './environment.ts';

/** Ends the grant of the customer with the given slug. */
const [slug = ''] = process.argv.slice(2);
const ended = await offboard(machine().api, slug, { account, project });
process.stdout.write(`${slug} ${ended ? 'ended' : 'has no grant'}\n`);
