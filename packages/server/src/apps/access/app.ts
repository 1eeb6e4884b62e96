import { and, eq, isNull, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { isIP } from 'node:net';
import type { Config } from '../../config/config.ts';
import { projectIssuer } from '../../crypto/keys/keyring.ts';
import { nodes } from '../../schema/nodes.ts';
import type { NodeRef } from '../../kernel/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { uuid } from '../../kernel/input/values.ts';
import type { Services } from '../../services.ts';
import type { IdentityProviders } from '../../providers/providers.ts';
import { isServiceItself } from './service-itself.ts';
import { projectApps } from '../../schema/apps/project-app.ts';

/** An app to which users can sign in: app, project and owner all exist and are not deleted. */
export interface LiveApp extends Readonly<typeof projectApps.$inferSelect> {
  readonly owner: { readonly kind: 'account' | 'organization'; readonly id: string };
  /** The scope of its project, as in tokens and responses. */
  readonly scope: ScopeRef;
  /** The organization for which a user signs in (`sign-in-organization.ts`); null: none. */
  readonly organization: { readonly id: string; readonly name: string } | null;
  /** The slice of that organization's grant, if the organization does not own the project. */
  readonly sliceId: string | null;
  /**
   * The organizations whose identity providers users may sign in through: those that use the project, all, or none.
   */
  readonly takesConnections: 'ofProject' | 'all' | 'none';
}

/** Returns the cache topic of a project's list of apps. */
export const appsTopic = (projectId: string): string => `apps:${projectId}`;

const owners = alias(nodes, 'owner');

async function liveApp(db: Executor, which: SQL): Promise<LiveApp | undefined> {
  const [row] = await db
    .select({ app: projectApps, ownerId: owners.id, ownerKind: owners.kind })
    .from(projectApps)
    .innerJoin(nodes, and(eq(nodes.id, projectApps.tenantId), isNull(nodes.deletedAt)))
    .innerJoin(owners, and(eq(owners.id, nodes.parentId), isNull(owners.deletedAt)))
    .where(and(which, isNull(projectApps.deletedAt)));
  if (!row) return undefined;
  const { app, ownerId, ownerKind } = row;
  const kind = ownerKind === 'organization' ? 'organization' : 'account';
  return {
    ...app,
    owner: { kind, id: ownerId },
    scope: { tenant: `${kind}Project`, id: `${ownerId}:${app.tenantId}` },
    organization: null,
    sliceId: null,
    takesConnections: 'ofProject',
  };
}

export const appById = (db: Executor, id: string): Promise<LiveApp | undefined> =>
  liveApp(db, eq(projectApps.id, id));

/** Returns the app with this client id, which may be any text that a client sent. */
export async function appByClientId(db: Executor, sent: string): Promise<LiveApp | undefined> {
  const clientId = uuid.safeParse(sent);
  return clientId.success ? liveApp(db, eq(projectApps.clientId, clientId.data)) : undefined;
}

/** Returns the issuer of the app's tokens, which every redirect names in `iss` (RFC 9207). */
export const issuerOf = ({ appUrl }: Config, { owner, tenantId }: LiveApp): string =>
  projectIssuer(appUrl, owner, tenantId);

/**
 * Returns the node on which to record calls without a scope: the slice of the customer for whom the user signs in,
 * otherwise the app's project.
 */
export const nodeOfApp = ({ tenantId, sliceId, scope }: LiveApp): NodeRef => ({
  id: sliceId ?? tenantId,
  scope,
});

/** Returns the configured identity providers (GitHub and OpenID Connect) through which users can sign in to the app. */
export const offeredIdentityProviders = (
  { identityProviders }: Pick<Services, 'identityProviders'>,
  app: Pick<LiveApp, 'id' | 'enabledProviders' | 'identityProviders'>,
): IdentityProviders['offered'] =>
  isServiceItself(app)
    ? identityProviders.offered
    : identityProviders.offered.filter(({ key }) =>
        key === 'github' ? app.enabledProviders.includes('github') : app.identityProviders.includes(key),
      );

export const isOffered = (
  services: Pick<Services, 'identityProviders'>,
  app: Pick<LiveApp, 'id' | 'enabledProviders' | 'identityProviders'>,
  key: string,
): boolean => offeredIdentityProviders(services, app).some((provider) => provider.key === key);

/**
 * Returns the app's enabled sign-in methods that this installation can offer. GitHub needs a configured client.
 * Passkeys need a domain, because browsers do not accept an IP address.
 */
export const offeredProviders = (
  { github, passkeys }: Config,
  { enabledProviders }: Pick<LiveApp, 'enabledProviders'>,
): LiveApp['enabledProviders'] =>
  enabledProviders.filter((provider) => {
    if (provider === 'github') return github.client !== undefined;
    return provider !== 'passkey' || isIP(passkeys.rpId) === 0;
  });
