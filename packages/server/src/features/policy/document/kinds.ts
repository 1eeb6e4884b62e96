import type { DocumentKind } from '@doorward/decision/document/document';
import type { AnyEntity } from '../../../kernel/entity.ts';
import { Group } from '../../groups/group.ts';
import { Permission } from '../../permissions/permission.ts';
import { ProjectApp } from '../../project-apps/project-app.ts';
import { Resource } from '../../resources/resource.ts';
import { Role } from '../../roles/role.ts';
import { Tag } from '../../tags/tag.ts';
import { WebhookSubscription } from '../../webhook-subscriptions/subscription.ts';

/** The noun of each kind of rows: its operations, its permissions, and the table that stores it. */
export const entityOf: Readonly<Record<DocumentKind, AnyEntity>> = {
  tags: Tag,
  resources: Resource,
  permissions: Permission,
  groups: Group,
  roles: Role,
  apps: ProjectApp,
  webhooks: WebhookSubscription,
};
