ALTER TABLE "nodes" ADD COLUMN "purge_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "recipient" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "purge_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "nodes_purge" ON "nodes" USING btree ("purge_at") WHERE purge_at is not null;--> statement-breakpoint
CREATE INDEX "audit_log_actor" ON "audit_log" USING btree ((actor->>'userId'),"id");--> statement-breakpoint
CREATE INDEX "audit_log_user" ON "audit_log" USING btree ((target->>'id'),"id") WHERE target->>'type' = 'User';--> statement-breakpoint
CREATE INDEX "events_user" ON "events" USING btree ((body->'data'->>'id'),"id") WHERE type like 'user.%';--> statement-breakpoint
CREATE INDEX "events_invited" ON "events" USING btree ((body->'data'->>'email'),"id") WHERE type like 'invitation.%';--> statement-breakpoint
CREATE INDEX "users_deleted" ON "users" USING btree ("deleted_at") WHERE deleted_at is not null;