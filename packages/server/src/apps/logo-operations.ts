import { logoFile, logoUpload, prepareLogo } from './branding/logo-upload.ts';
import { storeLogo } from './branding/logo.ts';
import { mutation } from '../declare.ts';
import { Scope } from '../kernel/scope.ts';
import { uuid } from '../kernel/input/values.ts';
import { ProjectApp } from '../schema/apps/project-app.ts';
import { lockApp } from './store.ts';

export const uploadProjectAppLogo = mutation({
  ...logoUpload,
  rest: 'POST /project-apps/:id/logo',
  whileImpersonating: 'refused',
  access: 'ProjectApp:Update',
  summary: 'Upload the logo of an app, or remove it',
  tenants: ['accountProject', 'organizationProject'],
  permissionChange: 'none',
  input: { scope: Scope, id: uuid, file: logoFile },
  output: ProjectApp.schema,
  target: ProjectApp,
  codes: ['INVALID_STATE'],
  emits: 'project_app.updated',
  prepare: ({ services, input }) => prepareLogo(services, input),
  run: async (ctx) => {
    const { db, input, scope, prepared } = ctx;
    await lockApp(ctx, input.id);
    const logoUrl = await storeLogo(ctx, { id: input.id, tenantId: scope.nodeId }, prepared);
    ctx.invalidate(`credential:${input.id}`);
    return (await db.update(ProjectApp, input.id, { logoUrl })).row;
  },
});
