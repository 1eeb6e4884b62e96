ALTER TABLE "project_apps" ADD COLUMN "policy_key" text;--> statement-breakpoint
ALTER TABLE "project_apps" ADD COLUMN "policy_hold" text;