CREATE TABLE "device_authorizations" (
	"hash" text PRIMARY KEY NOT NULL,
	"user_code_hash" text NOT NULL,
	"app_id" uuid NOT NULL,
	"scopes" text[],
	"openid_scopes" text[] DEFAULT '{}' NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"interval_seconds" integer NOT NULL,
	"polled_at" timestamp (3) with time zone,
	"decision" text,
	"user_id" uuid,
	"consented_scopes" text[],
	"acr" text,
	"amr" text[],
	"authenticated_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "device_authorizations_user_code" UNIQUE("user_code_hash")
);
--> statement-breakpoint
ALTER TABLE "project_codes" ADD COLUMN "resources" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "access_token_profile" text DEFAULT 'doorward' NOT NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "resources" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "project_apps" ADD COLUMN "access_token_profile" text DEFAULT 'doorward' NOT NULL;--> statement-breakpoint
ALTER TABLE "project_apps" ADD COLUMN "resources" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "device_authorizations" ADD CONSTRAINT "device_authorizations_app_id_project_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."project_apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "device_authorizations" ADD CONSTRAINT "device_authorizations_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "device_authorizations_app" ON "device_authorizations" USING btree ("app_id");--> statement-breakpoint
CREATE INDEX "device_authorizations_user" ON "device_authorizations" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "device_authorizations_expiry" ON "device_authorizations" USING btree ("expires_at");