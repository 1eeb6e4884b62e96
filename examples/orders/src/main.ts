import { createDoorward } from '@doorward/node';
import { ordersService } from './orders.ts';

const { WEBHOOK_SECRET = '', MACHINE_ROLE_ID = '', PORT = '3000' } = process.env;

const server = ordersService(createDoorward(), WEBHOOK_SECRET, MACHINE_ROLE_ID).listen(
  Number(PORT),
  '127.0.0.1',
  () => process.stdout.write(`The orders are at http://127.0.0.1:${PORT}/orders\n`),
);
process.once('SIGTERM', () => server.close());
