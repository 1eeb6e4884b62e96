import { z } from 'zod';
import { appOriginsTopic } from '../access/credentials/app-origins.ts';
import { appsTopic } from './access/app.ts';
import { fail } from '../errors.ts';
import type { Services } from '../services.ts';
import { pageOf, paging, relationsOf } from '../kernel/input/inputs.ts';
import { mutation, query } from '../declare.ts';
import { Scope, type Tenant } from '../kernel/scope.ts';
import { uuid } from '../kernel/input/values.ts';
import { assertMaySkipConsent } from './settings/first-party.ts';
import { scopesToSet } from './settings/scopes-to-set.ts';
import { assertSignInMethods } from './settings/app-sign-in-methods.ts';
import { createAppSecret } from './access/app-secret.ts';
import type { MembershipRun } from '../members/role-assignment.ts';
import { endSessionsOfApps } from '../members/app-sessions.ts';
import { ProjectApp } from '../schema/apps/project-app.ts';
import { assertAppTexts } from './branding/app-texts.ts';
import { removeLogos } from './branding/logo.ts';
import { lockApp, signUpRoleToSet, storeSecret } from './store.ts';

const tenants: readonly Tenant[] = ['accountProject', 'organizationProject'];

const ProjectAppWithSecret = ProjectApp.schema
  .extend({
    clientSecret: z.string().nullable().meta({
      description: 'Shown only once; null for an app that is not confidential, and in an idempotent replay.',
    }),
  })
  .meta({
    id: 'ProjectAppWithSecret',
    description: 'A project app with its secret, which no other answer has.',
  });

export const projectApps = query({
  rest: 'GET /project-apps',
  access: 'ProjectApp:Query',
  summary: 'List the apps of a project',
  tenants,
  input: { scope: Scope, ...paging(ProjectApp) },
  output: pageOf(ProjectApp),
  run: ({ db, input }) => db.page(ProjectApp, input),
});

export const projectApp = query({
  rest: 'GET /project-apps/:id',
  access: 'ProjectApp:Query',
  summary: 'Read an app of a project',
  tenants,
  input: { scope: Scope, id: uuid, ...relationsOf(ProjectApp) },
  output: ProjectApp.schema,
  target: ProjectApp,
  run: ({ db, input, target }) => db.withRelations(ProjectApp, target, input.relations),
});

export const createProjectApp = mutation({
  rest: 'POST /project-apps',
  whileImpersonating: 'refused',
  access: 'ProjectApp:Create',
  summary: 'Create an app; the secret of a confidential app is shown once',
  tenants,
  input: { scope: Scope, ...ProjectApp.create },
  output: ProjectAppWithSecret,
  secrets: ['clientSecret'],
  status: 201,
  codes: [
    'PRIVILEGE_ESCALATION',
    'NOT_FOUND',
    'SESSION_REQUIRED',
    'STEP_UP_REQUIRED',
    'WEBHOOK_URL_NOT_ALLOWED',
  ],
  emits: 'project_app.created',
  permissionChange: 'none',
  prepare: ({ services, input }) => assertTargetAllowed(services, input),
  run: async (ctx) => {
    const { db, input, services } = ctx;
    if (input.firstParty) assertMaySkipConsent(ctx);
    assertAppTexts(services.config, input);
    assertSignInMethods(services, input);
    const scopes = input.scopes && (await scopesToSet(setterOf(ctx), input.scopes, []));
    const role = await signUpRoleToSet(ctx, input, { allowSignUp: false, signUpRoleId: null });
    if (input.allowedOrigins.length > 0) ctx.invalidate(appOriginsTopic);
    ctx.invalidate(appsTopic(ctx.scope.nodeId));
    const secret = input.confidential ? createAppSecret(services) : null;
    const created = await db.insert(ProjectApp, {
      ...input,
      ...role,
      scopes,
      clientId: services.ids.random(),
      secretHash: secret?.secretHash,
    });
    return { ...created, clientSecret: secret?.clientSecret ?? null };
  },
});

/**
 * Checks the address of back-channel logout like that of a webhook: the service sends requests to both.
 * @throws WEBHOOK_URL_NOT_ALLOWED
 */
async function assertTargetAllowed(
  services: Services,
  { backchannelLogoutUri }: { readonly backchannelLogoutUri?: string | null | undefined },
): Promise<void> {
  if (backchannelLogoutUri) await services.assertUrlAllowed(backchannelLogoutUri, 'backchannelLogoutUri');
}

const setterOf = ({ tx, services, scope, rights }: MembershipRun) => ({
  tx,
  services,
  projectId: scope.nodeId,
  grants: rights.projectGrants ?? rights.grants,
});

/**
 * Creates the error for `firstParty` on a client that registered itself. No person vouches for such a client, so its
 * users are always asked for consent (openid §6).
 */
const registeredItself = () =>
  fail('INVALID_STATE', {
    params: { state: 'registered' },
    fix: 'Create an app of your own for a client that you vouch for.',
  });

export const updateProjectApp = mutation({
  rest: 'PATCH /project-apps/:id',
  whileImpersonating: 'refused',
  access: 'ProjectApp:Update',
  summary: 'Change an app; removed scopes restrict existing tokens too',
  description:
    'redirectUris, postLogoutRedirectUris, scopes, enabledProviders, identityProviders, allowedOrigins, resources, texts and tagIds replace the whole list.',
  tenants,
  input: { scope: Scope, id: uuid, ...ProjectApp.patch },
  output: ProjectApp.schema,
  target: ProjectApp,
  codes: [
    'PRIVILEGE_ESCALATION',
    'SESSION_REQUIRED',
    'STEP_UP_REQUIRED',
    'WEBHOOK_URL_NOT_ALLOWED',
    'INVALID_STATE',
  ],
  emits: 'project_app.updated',
  prepare: ({ services, input }) => assertTargetAllowed(services, input),
  run: async (ctx) => {
    const { db, input } = ctx;
    assertAppTexts(ctx.services.config, input);
    const before = await lockApp(ctx, input.id);
    if (input.logoUrl !== undefined && input.logoUrl !== before.logoUrl)
      await removeLogos(ctx.tx, [input.id]);
    if (input.firstParty && before.registered) throw registeredItself();
    if (input.firstParty && !before.firstParty) assertMaySkipConsent(ctx);
    const { enabledProviders = before.enabledProviders, identityProviders = before.identityProviders } =
      input;
    assertSignInMethods(ctx.services, { enabledProviders, identityProviders }, before);
    const { scopes, allowSignUp = before.allowSignUp, signUpRoleId = before.signUpRoleId } = input;
    const role = await signUpRoleToSet(ctx, { allowSignUp, signUpRoleId }, before);
    const patch = scopes
      ? { ...input, scopes: await scopesToSet(setterOf(ctx), scopes, before.scopes) }
      : input;
    ctx.invalidate(`credential:${input.id}`);
    if (input.allowedOrigins?.length) ctx.invalidate(appOriginsTopic);
    return (await db.update(ProjectApp, input.id, { ...patch, ...role })).row;
  },
});

export const deleteProjectApp = mutation({
  rest: 'DELETE /project-apps/:id',
  whileImpersonating: 'allowed',
  access: 'ProjectApp:Delete',
  summary: 'Delete an app; its sessions end',
  tenants,
  input: { scope: Scope, id: uuid },
  output: ProjectApp.schema,
  target: ProjectApp,
  permissionChange: 'none',
  run: async (ctx) => {
    const deleted = await ctx.db.remove(ProjectApp, ctx.input.id);
    await removeLogos(ctx.tx, [deleted.id]);
    ctx.record({
      event: 'project_app.deleted',
      data: deleted,
      target: { type: 'ProjectApp', id: deleted.id },
    });
    await endSessionsOfApps(ctx, [deleted.id]);
    ctx.invalidate(`credential:${deleted.id}`);
    return deleted;
  },
});

export const rotateProjectAppSecret = mutation({
  rest: 'POST /project-apps/:id/rotate-secret',
  whileImpersonating: 'refused',
  access: 'ProjectApp:RotateSecret',
  summary: 'Replace the secret of a confidential app; the old one is refused at once',
  description: 'Sessions and tokens stay valid.',
  tenants,
  input: { scope: Scope, id: uuid },
  output: ProjectAppWithSecret,
  secrets: ['clientSecret'],
  target: ProjectApp,
  codes: ['INVALID_STATE'],
  emits: 'project_app.updated',
  permissionChange: 'none',
  run: async ({ db, input, services, tx }) => {
    const app = await lockApp({ tx, db }, input.id);
    if (!app.confidential) {
      const fix = 'A public app has no secret. Create a confidential one if it can keep a secret.';
      throw fail('INVALID_STATE', { params: { state: 'notConfidential' }, fix });
    }
    const { clientSecret, secretHash } = createAppSecret(services);
    return { ...(await storeSecret({ tx, db }, input.id, secretHash)), clientSecret };
  },
});
