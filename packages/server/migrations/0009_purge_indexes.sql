CREATE INDEX "events_occurred" ON "events" USING brin ("occurred_at");--> statement-breakpoint
CREATE INDEX "api_keys_deleted" ON "api_keys" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "group_permissions_from" ON "group_permissions" USING btree ("group_id");--> statement-breakpoint
CREATE INDEX "group_tags_from" ON "group_tags" USING btree ("group_id");--> statement-breakpoint
CREATE INDEX "groups_deleted" ON "groups" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "accounts_deleted" ON "accounts" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "accounts_owner" ON "accounts" USING btree ("owner_id");--> statement-breakpoint
CREATE INDEX "sessions_expires" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sessions_ended" ON "sessions" USING btree ("ended_at") WHERE ended_at is not null;--> statement-breakpoint
CREATE INDEX "organization_invitations_deleted" ON "organization_invitations" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "organization_invitations_email" ON "organization_invitations" USING btree ("email");--> statement-breakpoint
CREATE INDEX "organization_invitations_inviter" ON "organization_invitations" USING btree ("invited_by");--> statement-breakpoint
CREATE INDEX "organization_tags_from" ON "organization_tags" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "organizations_deleted" ON "organizations" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "permission_tags_from" ON "permission_tags" USING btree ("permission_id");--> statement-breakpoint
CREATE INDEX "permissions_deleted" ON "permissions" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "project_tags_from" ON "project_tags" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "projects_deleted" ON "projects" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "resource_tags_from" ON "resource_tags" USING btree ("resource_id");--> statement-breakpoint
CREATE INDEX "resources_deleted" ON "resources" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "role_groups_from" ON "role_groups" USING btree ("role_id");--> statement-breakpoint
CREATE INDEX "role_tags_from" ON "role_tags" USING btree ("role_id");--> statement-breakpoint
CREATE INDEX "roles_deleted" ON "roles" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "tags_deleted" ON "tags" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "user_tags_from" ON "user_tags" USING btree ("user_id");