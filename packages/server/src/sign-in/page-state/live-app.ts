import type { Executor } from '../../kernel/scoped-db.ts';
import { appById, type LiveApp } from '../../apps/access/app.ts';
import { matchesRedirect } from '../../schema/apps/redirect-uri.ts';
import { serviceAsApp } from '../../apps/access/service-itself.ts';
import type { ProjectFlow } from '../steps/steps.ts';

/** The app of a flow. Undefined if the app was deleted, or the redirect URI of the flow was removed from it. */
export async function liveAppOf(db: Executor, { asked: request }: ProjectFlow): Promise<LiveApp | undefined> {
  if (request.toService) return serviceAsApp(request.toService);
  const app = await appById(db, request.appId);
  return app && (request.device || matchesRedirect(app, request.redirectUri)) ? app : undefined;
}
