CREATE TABLE "cli_codes" (
	"hash" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"challenge" text NOT NULL,
	"session_id" uuid,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "cli_codes" ADD CONSTRAINT "cli_codes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cli_codes" ADD CONSTRAINT "cli_codes_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "cli_codes_user" ON "cli_codes" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "cli_codes_session" ON "cli_codes" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "sign_in_flows_browser" ON "sign_in_flows" USING btree ("browser_hash");