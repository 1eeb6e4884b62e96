import { establishKeys, projectIssuer } from '../../crypto/keys/keyring.ts';
import { scopesToSet } from '../../apps/settings/scopes-to-set.ts';
import { fail } from '../../errors.ts';
import { recordEndedGrants } from '../../members/grant-entries.ts';
import { freeSlug } from '../../db/tenancy/free-slug.ts';
import { createNode, deleteNode } from '../../db/tenancy/tenant-tree.ts';
import { pageOf, paging, relationsOf } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { uuid } from '../../kernel/input/values.ts';
import { Project } from '../../schema/tenants/project.ts';

const owners: readonly Tenant[] = ['account', 'organization'];
const ownersAndItself: readonly Tenant[] = [...owners, 'accountProject', 'organizationProject'];

export const projects = query({
  rest: 'GET /projects',
  access: 'Project:Query',
  summary: 'List the projects of an account or organization',
  tenants: owners,
  input: { scope: Scope, ...paging(Project) },
  output: pageOf(Project),
  run: ({ db, input }) => db.page(Project, input),
});

export const project = query({
  rest: 'GET /projects/:id',
  access: 'Project:Query',
  summary: 'Read a project',
  tenants: ownersAndItself,
  input: { scope: Scope, id: uuid, ...relationsOf(Project) },
  output: Project.schema,
  target: Project,
  run: ({ db, input, target }) => db.withRelations(Project, target, input.relations),
});

export const createProject = mutation({
  rest: 'POST /projects',
  whileImpersonating: 'allowed',
  access: 'Project:Create',
  summary: 'Create a project, with its signing keys',
  tenants: owners,
  input: { scope: Scope, ...Project.create },
  output: Project.schema,
  status: 201,
  codes: ['CONFLICT', 'NOT_FOUND'],
  prepare: async ({ services }) => [await services.keyPairs.take(), await services.keyPairs.take()],
  run: async (ctx) => {
    const { db, input, scope, tx, services, prepared: pairs } = ctx;
    const id = services.ids.next();
    const kind = scope.tenant as 'account' | 'organization';
    await createNode(tx, { id, kind: 'project', parentId: scope.nodeId });
    const slug = input.slug ?? (await freeSlug(tx, 'projects', input.name, scope.nodeId));
    const created = await db.insert(Project, { ...input, id, slug, ownerId: scope.nodeId, ownerKind: kind });
    const issuer = projectIssuer(services.config.appUrl, { kind, id: scope.nodeId }, id);
    await establishKeys(tx, services, { tenantId: id, issuer }, pairs);
    const node = { id, scope: created.scope };
    ctx.record({ node, event: 'project.created', data: created, target: { type: 'Project', id } });
    return created;
  },
});

export const updateProject = mutation({
  rest: 'PATCH /projects/:id',
  whileImpersonating: 'allowed',
  access: 'Project:Update',
  summary: 'Change a project',
  tenants: ownersAndItself,
  input: { scope: Scope, id: uuid, ...Project.patch },
  output: Project.schema,
  target: Project,
  codes: ['CONFLICT', 'PRIVILEGE_ESCALATION'],
  // The caller's rights in the project decide which of its permissions they may give to self-registered apps.
  prepare: async ({ services, principal, input, target }) =>
    input.registrableScopes && principal ? services.resolver.resolve(principal, target.scope) : null,
  run: async (ctx) => {
    const { input, prepared, tx, services, target } = ctx;
    const { registrableScopes: wanted } = input;
    if (wanted && !prepared) throw fail('FORBIDDEN');
    const registrableScopes =
      wanted &&
      prepared &&
      (await scopesToSet(
        { tx, services, projectId: target.id, grants: prepared.rights.grants },
        wanted,
        target.registrableScopes,
        'registrableScopes',
      ));
    const patch = registrableScopes ? { ...input, registrableScopes } : input;
    const { row, changes } = await ctx.db.update(Project, input.id, patch);
    if (Object.keys(changes).length === 0) return row;
    const node = { id: row.id, scope: row.scope };
    ctx.record({
      node,
      event: 'project.updated',
      data: row,
      changes,
      target: { type: 'Project', id: row.id },
    });
    return row;
  },
});

export const deleteProject = mutation({
  rest: 'DELETE /projects/:id',
  whileImpersonating: 'refused',
  access: 'Project:Delete',
  summary: 'Delete a project with its keys and other rows',
  tenants: ownersAndItself,
  input: { scope: Scope, id: uuid },
  output: Project.schema,
  target: Project,
  run: async (ctx) => {
    const removed = await ctx.db.remove(Project, ctx.input.id);
    const deleted = await deleteNode(ctx.tx, removed.id);
    ctx.invalidate(...deleted.topics);
    const node = { id: removed.id, scope: removed.scope, evenDeleted: true as const };
    ctx.record({
      node,
      event: 'project.deleted',
      data: removed,
      target: { type: 'Project', id: removed.id },
    });
    await recordEndedGrants(ctx, deleted);
    return removed;
  },
});
