ALTER TABLE "authentication_methods" ADD COLUMN "provider_key" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "sso_issuer" text;--> statement-breakpoint
ALTER TABLE "project_apps" ADD COLUMN "identity_providers" text[] DEFAULT '{}' NOT NULL;