import { isInputObjectType, printSchema, printType, type GraphQLSchema } from 'graphql';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ApiKey } from '../schema/machines/api-key.ts';
import { Group } from '../schema/rights/group.ts';
import * as groups from '../rights/groups/operations.ts';
import * as permissions from '../rights/permissions/operations.ts';
import { Permission } from '../schema/rights/permission.ts';
import * as roles from '../rights/roles/operations.ts';
import { Role } from '../schema/rights/role.ts';
import { Tag } from '../schema/rights/tag.ts';
import { User } from '../schema/people/user.ts';
import type { AnyEntity } from '../kernel/entity.ts';
import { pageOf } from '../kernel/input/inputs.ts';
import { schemasOf } from '../kernel/output/json-schema.ts';
import type { NamedOperation, Operation } from '../kernel/operation.ts';
import { mutation, query } from '../declare.ts';
import { Scope } from '../kernel/scope.ts';
import { iso, isoInput, jsonObject, metadata, uuid } from '../kernel/input/values.ts';
import { buildGraphqlSchema } from './schema.ts';

const named = (operations: object): NamedOperation[] =>
  Object.entries<Operation>({ ...operations }).map(([name, op]) => ({
    ...op,
    name,
    tag: 'test',
  }));

const nouns = [ApiKey, Role, Group, Permission, Tag, User] as unknown as AnyEntity[];

function build(declarations: object): GraphQLSchema {
  const operations = named(declarations);
  return buildGraphqlSchema({
    operations,
    schemas: schemasOf(operations),
    entities: new Map(nouns.map((noun) => [noun.name, noun])),
    resolve: { field: () => () => null, relation: () => () => null },
  });
}

const typeOf = (schema: GraphQLSchema, name: string): string => {
  const type = schema.getType(name);
  if (!type) throw new Error(`no type ${name}`);
  return printType(type)
    .replace(/"""[\s\S]*?"""/g, '')
    .replace(/\n\s*\n/g, '\n')
    .trim();
};

const odd = (input: z.ZodRawShape, output: z.ZodType = z.object({ ok: z.boolean() })) => ({
  odd: query({ rest: 'GET /odd', summary: 'Odd', access: 'public', input, output, run: () => null }),
});

const real = build({ ...roles, ...groups, ...permissions });

test('one root field an operation, with one argument and a non-null answer', () => {
  expect(typeOf(real, 'Query')).toContain('roles(input: RolesInput!): RolePage!');
  expect(typeOf(real, 'Query')).toContain('role(input: RoleInput!): Role!');
  expect(typeOf(real, 'Mutation')).toContain('createRole(input: CreateRoleInput!): Role!');
  expect(real.getQueryType()?.getFields()['roles']?.description).toBe('List the roles of a scope');
});

test('members follow the JSON schema: no defaults, no REST-only members', () => {
  expect(typeOf(real, 'RolesInput')).toBe(`input RolesInput {
  scope: ScopeInput!
  page: Int
  limit: Int
  cursor: String
  search: String
  sortField: RoleSortField
  sortOrder: SortOrder
  ids: [ID!]
  tagIds: [ID!]
  isSystem: Boolean
}`);
  expect(typeOf(real, 'CreateRoleInput')).toBe(`input CreateRoleInput {
  scope: ScopeInput!
  name: String!
  description: String
  metadata: JSON
  groupIds: [ID!]
  tagIds: [ID!]
  dryRun: Boolean
}`);
  for (const type of Object.values(real.getTypeMap())) {
    if (!isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) expect(field.defaultValue).toBeUndefined();
  }
});

test('answers are the nouns, with relations that are never absent', () => {
  expect(typeOf(real, 'Role')).toBe(`type Role {
  id: ID!
  createdAt: DateTime!
  updatedAt: DateTime!
  deletedAt: DateTime
  name: String!
  description: String
  metadata: JSON!
  level: RoleLevel!
  isSystem: Boolean!
  managed: ManagedBy
  groups: [Group!]!
  tags: [Tag!]!
}`);
  expect(typeOf(real, 'RolePage')).toBe(`type RolePage {
  items: [Role!]!
  totalCount: Int!
  hasNextPage: Boolean!
  nextCursor: String
}`);
  expect(typeOf(real, 'Permission')).toContain('condition: JSON\n');
  expect(typeOf(real, 'Permission')).toContain('resource: ResourceRef!');
  expect(typeOf(real, 'ScopeInput')).toContain('tenant: Tenant!\n  id: String!');
  expect(typeOf(real, 'Tenant')).toContain('ProjectUser');
});

test('a noun with a secret beside it keeps its relations; single ones may be absent', () => {
  const WithSecret = ApiKey.schema
    .extend({ clientSecret: z.string().nullable() })
    .meta({ id: 'ApiKeyWithSecret' });
  const schema = build(odd({}, WithSecret));
  expect(typeOf(schema, 'ApiKeyWithSecret')).toContain('clientSecret: String\n');
  expect(typeOf(schema, 'ApiKeyWithSecret')).toContain('role: Role\n');
  expect(schema.getType('ApiKeyWithSecret')).toHaveProperty('_fields.role.resolve');
  expect(typeOf(schema, 'Query')).toContain('odd: ApiKeyWithSecret!');
});

test('kinds of members and names of anonymous types', () => {
  const schema = build(
    odd(
      {
        id: uuid.optional(),
        at: isoInput.nullish(),
        any: z.unknown().optional(),
        map: jsonObject.optional(),
        meta: metadata.default({}),
        ratio: z.number().default(1),
        kind: z.enum(['a', 'b']).optional(),
        subject: z.strictObject({ userId: uuid, deep: z.object({ x: z.int() }).optional() }).optional(),
        items: z.array(z.object({ action: z.string() })).optional(),
      },
      z.object({
        at: iso,
        maybe: z.boolean().optional(),
        rows: z.array(z.object({ n: z.number() })),
        any: z.unknown(),
      }),
    ),
  );
  expect(typeOf(schema, 'OddInput')).toBe(`input OddInput {
  id: ID
  at: DateTime
  any: JSON
  map: JSON
  meta: JSON
  ratio: Float
  kind: String
  subject: OddSubjectInput
  items: [OddItemsItemInput!]
}`);
  expect(typeOf(schema, 'OddSubjectInput')).toContain('userId: ID!\n  deep: OddSubjectDeepInput');
  expect(typeOf(schema, 'OddResult')).toBe(`type OddResult {
  at: DateTime!
  maybe: Boolean
  rows: [OddResultRowsItem!]!
  any: JSON
}`);
  expect(typeOf(schema, 'Query')).toContain('odd(input: OddInput): OddResult!');
});

test('an operation without members has no argument; REST-only operations do not exist', () => {
  const rest = { ...odd({}).odd, only: 'rest' as const };
  const schema = build({ ...odd({ hidden: z.string().meta({ restOnly: true }) }), rest });
  expect(Object.keys(schema.getQueryType()?.getFields() ?? {})).toEqual(['odd']);
  expect(schema.getQueryType()?.getFields()['odd']?.args).toEqual([]);
  expect(schema.getMutationType()).toBeNull();
});

test('the same declarations give the same text', () => {
  expect(printSchema(build({ ...roles, ...groups, ...permissions }))).toBe(printSchema(real));
});

test.each([
  ['a union', odd({ x: z.union([z.string(), z.int()]) }), /Odd.*X.* is a union/],
  ['a tuple', odd({}, z.object({ x: z.tuple([z.string(), z.int()]) })), /OddResultX/],
  ['an enum of other words', odd({ x: z.enum(['a.b']).meta({ id: 'Dotted' }) }), /a\.b/],
  [
    'one name for two types',
    odd({ x: z.enum(['a']).meta({ id: 'Twice' }) }, z.object({ x: z.enum(['b']).meta({ id: 'Twice' }) })),
    /Twice/,
  ],
])('%s stops the start', (_, declarations, message) => {
  expect(() => build(declarations)).toThrow(message);
});

test('scopes and pages of a mutation', () => {
  const schema = build({
    ...odd({}),
    doIt: mutation({
      rest: 'POST /do',
      whileImpersonating: 'allowed',
      summary: 'Do it',
      access: 'session',
      input: { scope: Scope },
      output: pageOf(Tag),
      run: () => null as never,
    }),
  });
  expect(typeOf(schema, 'Mutation')).toContain('doIt(input: DoItInput!): TagPage!');
});
