import { createDoorward } from '../../../src/node.ts';
import type { Doorward } from '../../../src/client/doorward.ts';
import type { DoorwardOptions } from '../../../src/contracts/types.ts';
import type { Shop } from './shop.ts';

/** The client of an application of the shop. */
export const clientOf = ({ url, credentials, scope }: Shop, options: DoorwardOptions = {}): Doorward =>
  createDoorward({ url, ...credentials, scope, ...options });
