ALTER TABLE "sign_in_flows" ADD COLUMN "mailed_hash" text;--> statement-breakpoint
ALTER TABLE "sign_in_flows" ADD CONSTRAINT "sign_in_flows_mailed" UNIQUE("mailed_hash");