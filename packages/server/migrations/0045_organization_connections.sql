CREATE TABLE "organization_connections" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"issuer" text NOT NULL,
	"client_id" text NOT NULL,
	"sealed_secret" text NOT NULL,
	"scopes" text[] NOT NULL,
	"domain_ids" uuid[] NOT NULL,
	"default_role_id" uuid NOT NULL,
	"default_role_tenant_id" uuid NOT NULL,
	"just_in_time" boolean DEFAULT true NOT NULL,
	"enforced" boolean DEFAULT false NOT NULL,
	"trust_mfa" boolean DEFAULT false NOT NULL,
	"status" text DEFAULT 'draft' NOT NULL,
	"proved_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "organization_connections" ADD CONSTRAINT "organization_connections_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_connections" ADD CONSTRAINT "organization_connections_role_fk" FOREIGN KEY ("default_role_tenant_id","default_role_id") REFERENCES "public"."roles"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "organization_connections_deleted" ON "organization_connections" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "organization_connections_tenant" ON "organization_connections" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "organization_connections_role" ON "organization_connections" USING btree ("default_role_id");