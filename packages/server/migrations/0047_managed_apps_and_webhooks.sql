ALTER TABLE "project_apps" ADD COLUMN "policy_key" text;--> statement-breakpoint
ALTER TABLE "project_apps" ADD COLUMN "policy_hold" text;--> statement-breakpoint
ALTER TABLE "webhook_subscriptions" ADD COLUMN "policy_key" text;--> statement-breakpoint
ALTER TABLE "webhook_subscriptions" ADD COLUMN "policy_hold" text;--> statement-breakpoint
ALTER TABLE "webhook_subscriptions" ADD COLUMN "name" text;--> statement-breakpoint
-- contract: the former version leaves the name empty, so its rows cannot collide.
CREATE UNIQUE INDEX "webhooks_name_taken" ON "webhook_subscriptions" USING btree ("tenant_id","name") WHERE deleted_at is null;