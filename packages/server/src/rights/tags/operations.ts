import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { uuid } from '../../kernel/input/values.ts';
import { Tag } from '../../schema/rights/tag.ts';

const tenants: readonly Tenant[] = ['account', 'organization', 'accountProject', 'organizationProject'];

export const tags = query({
  rest: 'GET /tags',
  access: 'Tag:Query',
  summary: 'List the tags of a scope',
  tenants,
  input: { scope: Scope, ...paging(Tag) },
  output: pageOf(Tag),
  run: ({ db, input }) => db.page(Tag, input),
});

export const tag = query({
  rest: 'GET /tags/:id',
  access: 'Tag:Query',
  summary: 'Read one tag',
  tenants,
  input: { scope: Scope, id: uuid },
  output: Tag.schema,
  target: Tag,
  run: ({ target }) => target,
});

export const createTag = mutation({
  rest: 'POST /tags',
  whileImpersonating: 'allowed',
  access: 'Tag:Create',
  permissionChange: 'none',
  summary: 'Create a tag',
  tenants,
  input: { scope: Scope, ...Tag.create },
  output: Tag.schema,
  status: 201,
  codes: ['CONFLICT'],
  run: ({ db, input }) => db.insert(Tag, input),
});

export const updateTag = mutation({
  rest: 'PATCH /tags/:id',
  whileImpersonating: 'allowed',
  access: 'Tag:Update',
  permissionChange: 'none',
  summary: 'Change a tag',
  tenants,
  input: { scope: Scope, id: uuid, ...Tag.patch },
  output: Tag.schema,
  target: Tag,
  codes: ['INVALID_STATE', 'DELETION_NOT_ALLOWED', 'CONFLICT'],
  run: async ({ db, input }) => (await db.update(Tag, input.id, input)).row,
});

export const deleteTag = mutation({
  rest: 'DELETE /tags/:id',
  whileImpersonating: 'allowed',
  access: 'Tag:Delete',
  permissionChange: 'none',
  summary: 'Delete a tag and remove it from every row',
  tenants,
  input: { scope: Scope, id: uuid },
  output: Tag.schema,
  target: Tag,
  codes: ['INVALID_STATE', 'DELETION_NOT_ALLOWED'],
  run: ({ db, input }) => db.remove(Tag, input.id),
});
