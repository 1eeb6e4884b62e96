import { withSignedIn } from '../../../lib/doorward';

export const GET = withSignedIn((_request, { principal }) => Response.json({ userId: principal.userId }));
