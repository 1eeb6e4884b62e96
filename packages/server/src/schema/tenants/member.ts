import { eq, sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso, metadata, uuid } from '../../kernel/input/values.ts';
import { UserKind } from '../people/user.ts';
import { organizationMembers } from '../rights/membership.ts';

const MemberUser = z
  .object({
    id: uuid.describe('Id of the user.'),
    name: z.string().describe('Their name.'),
    kind: UserKind.describe('A person, or a service user: a machine that acts by API keys only.'),
    email: z.string().nullable().describe('Their verified address; null if there is none.'),
    pictureUrl: z.string().nullable().describe('Address of their picture; null without one.'),
  })
  .meta({ id: 'MemberUser', description: 'The user behind the membership.' });

const MemberRole = z
  .object({
    id: uuid.describe('Id of the role.'),
    name: z.string().describe('Its name.'),
    description: z.string().nullable().describe('What it is for.'),
    isSystem: z.boolean().describe('Built in: it cannot be changed or deleted.'),
  })
  .meta({ id: 'MemberRole', description: 'The one role of the member.' });

const ofUser = (expression: SQL): SQL =>
  sql`(select ${expression} from users u where u.id = "organization_members"."user_id")`;
const ofRole = (expression: SQL): SQL =>
  sql`(select ${expression} from roles r where r.id = "organization_members"."role_id")`;

/** A user in an organization, with exactly one role. The id is the id of the user. */
export const Member = entity('Member', {
  table: organizationMembers,
  doc: 'A user in an organization, with exactly one role. The id is the id of the user.',
  fields: {
    user: serverSet(MemberUser),
    role: serverSet(MemberRole),
    roleId: serverSet(uuid.describe('Id of the role of the member.')),
    metadata: serverSet(metadata.describe('JSON that the organization keeps about the member.')),
    joinedAt: serverSet(iso.describe('When they joined.')),
  },
  without: ['deletedAt'],
  columns: { id: organizationMembers.userId, joinedAt: organizationMembers.createdAt },
  computed: {
    user: ofUser(
      sql`json_build_object('id', u.id, 'name', u.name, 'kind', u.kind, 'email', u.email, 'pictureUrl', u.picture_url)`,
    ),
    role: ofRole(
      sql`json_build_object('id', r.id, 'name', r.name, 'description', r.description, 'isSystem', r.is_system)`,
    ),
    name: ofUser(sql`u.name`),
    email: ofUser(sql`u.email`),
  },
  within: (scope) => eq(organizationMembers.tenantId, scope.nodeId),
  search: ['name', 'email'],
  sort: ['createdAt', 'name', 'email'],
});
