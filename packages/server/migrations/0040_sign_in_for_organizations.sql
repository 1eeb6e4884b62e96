ALTER TABLE "project_codes" ADD COLUMN "organization_id" uuid;--> statement-breakpoint
ALTER TABLE "device_authorizations" ADD COLUMN "organization" text;--> statement-breakpoint
ALTER TABLE "device_authorizations" ADD COLUMN "organization_id" uuid;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "organization_id" uuid;--> statement-breakpoint
ALTER TABLE "project_grants" ADD COLUMN "default_role_id" uuid;--> statement-breakpoint
CREATE INDEX "sessions_organization" ON "sessions" USING btree ("organization_id","user_id") WHERE organization_id is not null;