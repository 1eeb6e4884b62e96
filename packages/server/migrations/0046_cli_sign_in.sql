CREATE TABLE "prepared_operators" (
	"address" text PRIMARY KEY NOT NULL,
	"role_id" uuid NOT NULL,
	"reason" text,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
-- contract: the former version joins the app of a code, so it answers one without an app as unknown
ALTER TABLE "device_authorizations" ALTER COLUMN "app_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "cli_codes" ADD COLUMN "amr" text[] DEFAULT '{"fed"}' NOT NULL;--> statement-breakpoint
ALTER TABLE "cli_codes" ADD COLUMN "authenticated_at" timestamp (3) with time zone DEFAULT now() NOT NULL;