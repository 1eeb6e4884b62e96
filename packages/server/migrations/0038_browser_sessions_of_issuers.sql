CREATE TABLE "logout_notices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_app_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"session_id" uuid NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "project_codes" ADD COLUMN "sso_session_id" uuid;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "sso_project_id" uuid;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "sso_session_id" uuid;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "factor_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "project_apps" ADD COLUMN "post_logout_redirect_uris" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "project_apps" ADD COLUMN "backchannel_logout_uri" text;--> statement-breakpoint
ALTER TABLE "logout_notices" ADD CONSTRAINT "logout_notices_project_app_id_project_apps_id_fk" FOREIGN KEY ("project_app_id") REFERENCES "public"."project_apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "logout_notices_due" ON "logout_notices" USING btree ("next_attempt_at");--> statement-breakpoint
CREATE INDEX "logout_notices_app" ON "logout_notices" USING btree ("project_app_id");--> statement-breakpoint
CREATE INDEX "sessions_sso" ON "sessions" USING btree ("sso_session_id") WHERE sso_session_id is not null;