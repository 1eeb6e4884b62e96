import { and, eq, isNull, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Config } from '../../config.ts';
import { projectIssuer } from '../../crypto/keyring.ts';
import { nodes } from '../../db/nodes.ts';
import type { NodeRef } from '../../kernel/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { uuid } from '../../values.ts';
import { projectApps } from '../project-apps/project-app.ts';

/** An app to which somebody may sign in now: it lives, and so do its project and its owner. */
export interface LiveApp extends Readonly<typeof projectApps.$inferSelect> {
  readonly owner: { readonly kind: 'account' | 'organization'; readonly id: string };
  /** Its project, as tokens and answers name it. */
  readonly scope: ScopeRef;
}

const owners = alias(nodes, 'owner');

async function liveApp(db: Executor, which: SQL): Promise<LiveApp | undefined> {
  const [found] = await db
    .select({ app: projectApps, ownerId: owners.id, ownerKind: owners.kind })
    .from(projectApps)
    .innerJoin(nodes, and(eq(nodes.id, projectApps.tenantId), isNull(nodes.deletedAt)))
    .innerJoin(owners, and(eq(owners.id, nodes.parentId), isNull(owners.deletedAt)))
    .where(and(which, isNull(projectApps.deletedAt)));
  if (!found) return undefined;
  const { app, ownerId, ownerKind } = found;
  const kind = ownerKind === 'organization' ? 'organization' : 'account';
  return {
    ...app,
    owner: { kind, id: ownerId },
    scope: { tenant: `${kind}Project`, id: `${ownerId}:${app.tenantId}` },
  };
}

export const appById = (db: Executor, id: string): Promise<LiveApp | undefined> =>
  liveApp(db, eq(projectApps.id, id));

/** The app of a client id, which may be any text that a client sent. */
export async function appByClientId(db: Executor, sent: string): Promise<LiveApp | undefined> {
  const clientId = uuid.safeParse(sent);
  return clientId.success ? liveApp(db, eq(projectApps.clientId, clientId.data)) : undefined;
}

/** Who signs its tokens, and what RFC 9207 says at every redirect. */
export const issuerOf = ({ appUrl }: Config, { owner, tenantId }: LiveApp): string =>
  projectIssuer(appUrl, owner, tenantId);

/** The project's node, for what is recorded of the app outside of any scope. */
export const nodeOfApp = ({ tenantId, scope }: LiveApp): NodeRef => ({ id: tenantId, scope });

/** GitHub is offered only where the operator has set it up. */
export const offeredProviders = (
  { github }: Config,
  { enabledProviders }: Pick<LiveApp, 'enabledProviders'>,
): LiveApp['enabledProviders'] =>
  enabledProviders.filter((provider) => provider !== 'github' || github.client !== undefined);
