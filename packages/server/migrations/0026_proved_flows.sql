ALTER TABLE "sign_in_flows" ADD COLUMN "user_id" uuid;--> statement-breakpoint
CREATE INDEX "sign_in_flows_user" ON "sign_in_flows" USING btree ("user_id");