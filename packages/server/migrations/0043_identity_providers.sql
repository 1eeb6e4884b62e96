DROP INDEX "authentication_methods_provider_id_taken";--> statement-breakpoint
ALTER TABLE "authentication_methods" ADD COLUMN "provider_key" text;--> statement-breakpoint
ALTER TABLE "authentication_methods" ADD COLUMN "issuer" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "sso_provider" text;--> statement-breakpoint
ALTER TABLE "project_apps" ADD COLUMN "identity_providers" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "authentication_methods_provider_id_taken" ON "authentication_methods" USING btree ("provider","issuer","provider_id") WHERE claims;