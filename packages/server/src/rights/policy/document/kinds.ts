import type { DocumentKind } from '@doorward/decision/document/document';
import type { AnyEntity } from '../../../kernel/entity.ts';
import { Group } from '../../../schema/rights/group.ts';
import { Permission } from '../../../schema/rights/permission.ts';
import { ProjectApp } from '../../../schema/apps/project-app.ts';
import { Resource } from '../../../schema/rights/resource.ts';
import { Role } from '../../../schema/rights/role.ts';
import { Tag } from '../../../schema/rights/tag.ts';
import { WebhookSubscription } from '../../../schema/webhooks/webhook-subscription.ts';

/** The noun of each kind of rows, with its operations, permissions and table. */
export const entityOf: Readonly<Record<DocumentKind, AnyEntity>> = {
  tags: Tag,
  resources: Resource,
  permissions: Permission,
  groups: Group,
  roles: Role,
  apps: ProjectApp,
  webhooks: WebhookSubscription,
};
