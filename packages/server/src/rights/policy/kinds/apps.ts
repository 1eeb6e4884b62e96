import type { Keyed, PolicyDocument } from '@doorward/decision/document/document';
import { organizationNouns } from '@doorward/decision/policy/organization-nouns';
import { and, eq, isNull, sql } from 'drizzle-orm';
import { appOriginsTopic } from '../../../access/credentials/app-origins.ts';
import { recordset } from '../../../db/statements/recordset.ts';
import { isAnyOf } from '../../../db/statements/rows.ts';
import { appsTopic } from '../../../apps/access/app.ts';
import { createAppSecret } from '../../../apps/access/app-secret.ts';
import { signInMethodFaults } from '../../../apps/settings/app-sign-in-methods.ts';
import { removeLogos } from '../../../apps/branding/logo.ts';
import { endSessionsOfApps } from '../../../members/app-sessions.ts';
import { fail, type Detail } from '../../../errors.ts';
import type { Context, Services } from '../../../services.ts';
import { fixOf, useOneOf, type Hint } from '../../../kernel/input/fix.ts';
import type { ResolvedScope } from '../../../kernel/scope.ts';
import { roles } from '../../../schema/rights/role.ts';
import type { Comparison } from '../document/match.ts';
import type { NewSecret } from '../outputs.ts';
import type { WrittenChange } from '../write.ts';

const MAX_DETAILS = 20;

type AppServices = Pick<Services, 'builtIns' | 'identityProviders'>;

/**
 * Checks the sign-in methods and scopes that apps name. A scope must be a permission of the document or a built-in
 * permission. A method or scope that the row already has may stay, even if the provider or permission no longer exists.
 *
 * @throws VALIDATION_ERROR, with paths that begin with `policy`
 */
export function assertAppsConsistent(
  document: PolicyDocument,
  { before }: Comparison,
  services: AppServices,
): void {
  const names = scopesOf(document, services);
  const allowed: ReadonlySet<string> = new Set(names);
  const details: Detail[] = [];
  const hints: Hint[] = [];
  for (const [key, app] of Object.entries(document.apps)) {
    const path = `policy.apps.${key}`;
    const former = (before.apps as Keyed<(typeof document.apps)[string] | undefined>)[key];
    const ways = signInMethodFaults(services, app, former);
    for (const fault of ways?.details ?? []) {
      details.push({ ...fault, path: `${path}.${fault.path}` });
      hints.push({ path: `${path}.${fault.path}`, hint: ways?.fix ?? '' });
    }
    for (const [index, scope] of (app.scopes ?? []).entries()) {
      if (allowed.has(scope) || former?.scopes?.includes(scope)) continue;
      details.push({ path: `${path}.scopes.${index}`, code: 'enum' });
      hints.push({ path: `${path}.scopes.${index}`, hint: useOneOf(names, scope) });
    }
  }
  if (details.length === 0) return;
  const shown = details.slice(0, MAX_DETAILS);
  const fix = fixOf(hints, shown.length);
  throw fail('VALIDATION_ERROR', { details: shown, ...(fix === undefined ? {} : { fix }) });
}

/**
 * The permissions that an app may be given, as `resource:action`: the permissions of the document, and the built-in
 * permissions that have effect in a project.
 */
const scopesOf = ({ permissions }: PolicyDocument, { builtIns }: AppServices): string[] => [
  ...new Set([
    ...Object.values(permissions).map(({ resource, action }) => `${resource}:${action}`),
    ...builtIns.permissions
      .map(({ name }) => name)
      .filter((name) => !organizationNouns.has(name.split(':')[0] ?? '')),
  ]),
];

type AppContext = Pick<Context, 'tx' | 'services' | 'record' | 'invalidate'> & {
  readonly scope: ResolvedScope;
};

/**
 * Share-locks the roles that people will join with, so that none is deleted as unassigned meanwhile. The lock of the
 * node would not prevent that, because a deletion takes it only at its end.
 *
 * @throws CONFLICT if such a role was deleted since the rows were read
 */
export async function lockSignUpRoles(
  { tx, scope }: AppContext,
  { changes, after, rowOf }: Comparison,
): Promise<void> {
  const named = changes.flatMap(({ kind, key, action }) => {
    const role = kind === 'apps' && action !== 'delete' ? after.apps[key]?.signUpRole : null;
    return (role && rowOf('roles', role)?.id) || [];
  });
  const ids = [...new Set(named)];
  if (ids.length === 0) return;
  const locked = await tx
    .select({ id: roles.id })
    .from(roles)
    .where(and(eq(roles.tenantId, scope.nodeId), isAnyOf(roles.id, ids), isNull(roles.deletedAt)))
    .orderBy(roles.id)
    .for('share');
  if (locked.length < ids.length)
    throw fail('CONFLICT', {
      details: [{ path: 'ifVersion', code: 'changed' }],
      fix: 'A role was deleted meanwhile: plan again.',
    });
}

/** Creates secrets for new confidential apps. */
export async function secretsOfApps(
  { tx, scope, services }: AppContext,
  { after }: Comparison,
  written: readonly WrittenChange[],
): Promise<NewSecret[]> {
  const made = written.flatMap(({ kind, action, id, key }) =>
    kind === 'apps' && action === 'create' && after.apps[key]?.confidential === true
      ? [{ id, key, ...createAppSecret(services) }]
      : [],
  );
  if (made.length === 0) return [];
  const hashes = made.map(({ id, secretHash }) => ({ id, hash: `\\x${secretHash.toString('hex')}` }));
  await tx.execute(sql`update project_apps a set secret_hash = made.hash
    from ${recordset(hashes, 'made(id uuid, hash bytea)')}
    where a.tenant_id = ${scope.nodeId}::uuid and a.id = made.id`);
  return made.map(({ key, clientSecret }) => ({ kind: 'apps', key, secret: clientSecret }));
}

/**
 * Ends the sessions of deleted apps, removes stored logos, and invalidates cached data of changed apps. Call it after
 * the recordings.
 */
export async function settleApps(ctx: AppContext, written: readonly WrittenChange[]): Promise<void> {
  const changes = written.filter(({ kind }) => kind === 'apps');
  if (changes.length === 0) return;
  ctx.invalidate(appsTopic(ctx.scope.nodeId));
  for (const { action, id, fields } of changes) {
    if (action !== 'create') ctx.invalidate(`credential:${id}`);
    if ('allowedOrigins' in fields) ctx.invalidate(appOriginsTopic);
  }
  const idsOf = (matches: (change: WrittenChange) => boolean): string[] =>
    changes.filter(matches).map(({ id }) => id);
  const withoutLogo = idsOf(
    ({ action, fields }) => action === 'delete' || (action !== 'create' && 'logoUrl' in fields),
  );
  if (withoutLogo.length > 0) await removeLogos(ctx.tx, withoutLogo);
  const gone = idsOf(({ action }) => action === 'delete');
  if (gone.length > 0) await endSessionsOfApps(ctx, gone);
}
