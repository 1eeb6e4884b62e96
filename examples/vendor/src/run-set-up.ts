import { createDoorward } from '@doorward/node';
import { setUp } from './set-up.ts';

/** Prepares the project, and prints the environment that the other programs need. */
const { DOORWARD_URL = 'http://localhost:4000', DOORWARD_TOKEN = '', ACCOUNT_ID = '' } = process.env;

const environment = await setUp(createDoorward({ url: DOORWARD_URL, token: DOORWARD_TOKEN }), ACCOUNT_ID);
for (const [name, value] of Object.entries(environment)) process.stdout.write(`export ${name}=${value}\n`);
