ALTER TABLE "api_keys" ADD COLUMN "expiry_notice_days" integer;--> statement-breakpoint
CREATE INDEX "api_keys_expires" ON "api_keys" USING btree ("expires_at") WHERE expires_at is not null;