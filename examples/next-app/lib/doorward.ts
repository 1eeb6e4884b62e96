import { createDoorward } from '@doorward/node';
import { guard } from '@doorward/node/next';

/** The address and the project come from DOORWARD_URL and DOORWARD_SCOPE. Callers bring their own tokens. */
export const { withPermission, withSignedIn } = guard(createDoorward());
