import { readFile } from 'node:fs/promises';
import { onboard, type Customer } from './onboard.ts';
import { account, machine, project } from './environment.ts';

/** Onboards the customers of a file with the one key of the machine. A second run changes nothing. */
const { api } = machine();
const roleIds = (process.env['ROLE_IDS'] ?? '').split(',');
const customers = JSON.parse(await readFile(process.argv[2] ?? 'customers.json', 'utf8')) as Customer[];

for (const customer of customers) {
  const { organizationId, done } = await onboard(api, customer, { account, project, roleIds });
  process.stdout.write(`${customer.slug} ${organizationId} ${done.join(', ') || 'unchanged'}\n`);
}
