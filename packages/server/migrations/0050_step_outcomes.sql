CREATE TABLE "step_outcomes" (
	"browser_hash" text PRIMARY KEY NOT NULL,
	"request_hash" text NOT NULL,
	"sealed" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "step_outcomes_expiry" ON "step_outcomes" USING btree ("expires_at");