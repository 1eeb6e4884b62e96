import { createDoorward } from '@doorward/node';
import { setUp } from './set-up.ts';

/** Prepares a project for the orders service, and prints the environment that the service needs. */
const { DOORWARD_URL = 'http://localhost:4000', DOORWARD_TOKEN = '', ACCOUNT_ID = '' } = process.env;
const { ORDERS_URL = 'https://orders.example.com' } = process.env;

const doorward = createDoorward({ url: DOORWARD_URL, token: DOORWARD_TOKEN });
const environment = await setUp(doorward, ACCOUNT_ID, ORDERS_URL);
for (const [name, value] of Object.entries(environment)) process.stdout.write(`export ${name}=${value}\n`);
