ALTER TABLE "project_apps" ADD COLUMN "registration_hash" text;--> statement-breakpoint
ALTER TABLE "project_apps" ADD COLUMN "last_used_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "dynamic_registration" text DEFAULT 'off' NOT NULL;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "registrable_scopes" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "registrable_resources" text[] DEFAULT '{}' NOT NULL;