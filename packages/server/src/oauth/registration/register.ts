import { and, count, eq, isNotNull, isNull } from 'drizzle-orm';
import { evaluate } from '@doorward/decision/evaluate';
import { appProviders, projectApps } from '../../schema/apps/project-app.ts';
import { projects } from '../../schema/tenants/project.ts';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { fail, type DoorwardError } from '../../errors.ts';
import type { Principal } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import type { NodeRef } from '../../kernel/event.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { appsTopic } from '../../apps/access/app.ts';
import { parseScopes } from '../../apps/access/openid-scopes.ts';
import type { ClientMetadata } from './client-metadata.ts';
import { invalidRegistrationToken } from './errors.ts';
import { openidKeys } from '../../providers/providers.ts';
import { appData, describeClient } from './registered-client.ts';

/*
 * Dynamic registration (RFC 7591, openid §13). The client sends the token of an API key, and becomes an app of that
 * key's project. No person vouches for it, so it is a public app, is never `firstParty` and so never skips consent, and
 * can request only scopes that the project allows.
 */

/** The maximum number of registered apps per project. */
const MAX_REGISTERED_APPS = 100;

/**
 * Returns the project of the initial access token.
 *
 * @throws NOT_FOUND if the installation does not allow registration, UNAUTHENTICATED, FORBIDDEN
 */
export async function registeringProject(services: Services, principal: Principal | null): Promise<NodeRef> {
  if (!services.config.auth.dynamicRegistration) {
    throw fail('NOT_FOUND', { fix: 'Registration is off in this installation.' });
  }
  if (!principal) throw invalidRegistrationToken();
  const { type, pinned } = principal;
  const at = type === 'ApiKey' && pinned ? await services.resolver.resolve(principal, pinned) : null;
  // In a granted scope the permission has no effect, because apps belong to the owner of the project.
  const isProject = at?.scope.tenant === 'accountProject' || at?.scope.tenant === 'organizationProject';
  if (!at || !pinned || !isProject) throw notAllowed();
  const decision = evaluate(at.rights.grants, { resource: 'ProjectApp', action: 'Create' });
  if (!decision.authorized) throw notAllowed();
  return { id: at.scope.nodeId, scope: pinned };
}

const notAllowed = (): DoorwardError =>
  fail('FORBIDDEN', {
    fix: 'Send the token of an API key of the project whose role holds ProjectApp:Create, without a condition.',
  });

/**
 * Registers the client as an app of the project, and returns it with its registration access token.
 *
 * @throws INVALID_STATE, CONFLICT, VALIDATION_ERROR
 */
export async function registerClient(ctx: Run, node: NodeRef, metadata: ClientMetadata) {
  const { tx, services } = ctx;
  // The lock serializes registrations in the project, so that together they do not exceed the limit.
  const [project] = await tx.select().from(projects).where(eq(projects.id, node.id)).for('no key update');
  if (project?.dynamicRegistration !== 'token') {
    const fix = 'Set dynamicRegistration of the project to token.';
    throw fail('INVALID_STATE', { params: { state: 'off' }, fix });
  }
  const name = metadata.client_name ?? 'Unnamed client';
  await assertPlace(tx, node.id);
  await assertOwnName(tx, node.id, name);
  const token = newOneTimeToken();
  const [app] = await tx
    .insert(projectApps)
    .values({
      id: services.ids.next(),
      tenantId: node.id,
      clientId: services.ids.random(),
      name,
      homepageUrl: metadata.client_uri ?? null,
      redirectUris: [...new Set(metadata.redirect_uris)],
      postLogoutRedirectUris: [...new Set(metadata.post_logout_redirect_uris)],
      scopes: allowedScopes(project.registrableScopes, metadata.scope),
      resources: project.registrableResources,
      enabledProviders: [...appProviders],
      identityProviders: openidKeys(services.identityProviders),
      allowSignUp: false,
      confidential: false,
      registrationHash: hashOneTimeToken(token),
    })
    .returning();
  if (!app) throw new Error('an insert returned no row');
  ctx.invalidate(appsTopic(node.id));
  ctx.record({
    node,
    event: 'project_app.created',
    data: appData(app),
    target: { type: 'ProjectApp', id: app.id },
  });
  return { ...describeClient(services.config, app), registration_access_token: token };
}

async function assertPlace(tx: Executor, projectId: string): Promise<void> {
  const [row] = await tx
    .select({ registered: count() })
    .from(projectApps)
    .where(
      and(
        eq(projectApps.tenantId, projectId),
        isNull(projectApps.deletedAt),
        isNotNull(projectApps.registrationHash),
      ),
    );
  if ((row?.registered ?? 0) < MAX_REGISTERED_APPS) return;
  throw fail('CONFLICT', {
    fix: `A project has at most ${MAX_REGISTERED_APPS} registered apps; delete one that is not needed.`,
  });
}

/** Reduces a name to letters and digits, so that spaces, punctuation, case and width make no difference. */
const skeleton = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/**
 * Refuses the name of an app that people have created, because users would take the client for that app. Does not
 * detect similar letters of other scripts; the consent page says who made the app.
 */
async function assertOwnName(tx: Executor, projectId: string, name: string): Promise<void> {
  const created = await tx
    .select({ name: projectApps.name })
    .from(projectApps)
    .where(
      and(
        eq(projectApps.tenantId, projectId),
        isNull(projectApps.deletedAt),
        isNull(projectApps.registrationHash),
      ),
    );
  if (!created.some((other) => skeleton(other.name) === skeleton(name))) return;
  throw fail('VALIDATION_ERROR', {
    details: [{ path: 'client_name', code: 'taken' }],
    fix: 'An app of the project has this name; send another client_name.',
  });
}

/** The scopes of the client. Never null, which would mean unrestricted. @throws VALIDATION_ERROR */
function allowedScopes(registrable: readonly string[], sent: string | undefined): string[] {
  const { permissions } = parseScopes(sent);
  if (permissions === null) return [...registrable];
  if (permissions.every((scope) => registrable.includes(scope))) return [...permissions];
  throw fail('VALIDATION_ERROR', {
    details: [{ path: 'scope', code: 'not_allowed' }],
    fix: 'Name scopes of OpenID Connect, or of the registrableScopes of the project.',
  });
}
