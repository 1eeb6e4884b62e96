ALTER TABLE "sessions" ADD COLUMN "openid_scopes" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "project_codes" ADD COLUMN "openid_scopes" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "project_codes" ADD COLUMN "nonce" text;