CREATE TABLE "organization_domains" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"tenant_id" uuid NOT NULL,
	"domain" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"token" text NOT NULL,
	"verified_at" timestamp (3) with time zone,
	"checked_at" timestamp (3) with time zone,
	"missing_since" timestamp (3) with time zone,
	"next_check_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "organization_domains" ADD CONSTRAINT "organization_domains_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "organization_domains_deleted" ON "organization_domains" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "organization_domains_tenant" ON "organization_domains" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "organization_domains_check" ON "organization_domains" USING btree ("next_check_at");--> statement-breakpoint
CREATE UNIQUE INDEX "domains_domain_taken" ON "organization_domains" USING btree ("tenant_id","domain") WHERE deleted_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "domains_verified_taken" ON "organization_domains" USING btree ("domain") WHERE status = 'verified' and deleted_at is null;