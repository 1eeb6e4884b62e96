import { eq, sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso, metadata, uuid } from '../../values.ts';
import { organizationMembers } from '../memberships/membership.ts';

const MemberUser = z
  .object({ id: uuid, name: z.string(), email: z.string().nullable(), pictureUrl: z.string().nullable() })
  .meta({ id: 'MemberUser', description: 'Who the member is.' });

const MemberRole = z
  .object({ id: uuid, name: z.string(), description: z.string().nullable(), isSystem: z.boolean() })
  .meta({ id: 'MemberRole', description: 'The one role of the member.' });

const ofUser = (what: SQL): SQL =>
  sql`(select ${what} from users u where u.id = "organization_members"."user_id")`;
const ofRole = (what: SQL): SQL =>
  sql`(select ${what} from roles r where r.id = "organization_members"."role_id")`;

/** A user as an organization sees him: with one role, from a day on. His id is the user's. */
export const Member = entity('Member', {
  table: organizationMembers,
  doc: 'A user in an organization, with exactly one role. The id is the id of the user.',
  fields: {
    user: serverSet(MemberUser),
    role: serverSet(MemberRole),
    roleId: serverSet(uuid),
    metadata: serverSet(metadata),
    joinedAt: serverSet(iso),
  },
  without: ['deletedAt'],
  columns: { id: organizationMembers.userId, joinedAt: organizationMembers.createdAt },
  computed: {
    user: ofUser(
      sql`json_build_object('id', u.id, 'name', u.name, 'email', u.email, 'pictureUrl', u.picture_url)`,
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
