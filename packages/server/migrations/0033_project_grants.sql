CREATE TABLE "project_grant_roles" (
	"tenant_id" uuid NOT NULL,
	"project_grant_id" uuid NOT NULL,
	"role_id" uuid NOT NULL,
	"to_tenant_id" uuid NOT NULL,
	CONSTRAINT "project_grant_roles_tenant_id_project_grant_id_role_id_pk" PRIMARY KEY("tenant_id","project_grant_id","role_id"),
	CONSTRAINT "project_grant_roles_one_tenant" CHECK ("project_grant_roles"."to_tenant_id" = "project_grant_roles"."tenant_id" or "project_grant_roles"."to_tenant_id" = '00000000-0000-0000-0000-000000000000')
);
--> statement-breakpoint
CREATE TABLE "project_grant_tokens" (
	"hash" text PRIMARY KEY NOT NULL,
	"grant_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "project_grant_tokens_grant" UNIQUE("grant_id")
);
--> statement-breakpoint
CREATE TABLE "project_grants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"tenant_id" uuid NOT NULL,
	"organization_id" uuid,
	"name" text NOT NULL,
	"email" text,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"max_users" integer,
	"features" text[] NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"created_by" uuid NOT NULL,
	"accepted_by" uuid,
	"accepted_at" timestamp (3) with time zone,
	"revoked_by" text,
	"revoked_at" timestamp (3) with time zone,
	"revoked_reason" text
);
--> statement-breakpoint
ALTER TABLE "organization_invitations" ADD COLUMN "grants" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "project_grant_roles" ADD CONSTRAINT "project_grant_roles_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_grant_roles" ADD CONSTRAINT "project_grant_roles_from_fk" FOREIGN KEY ("project_grant_id") REFERENCES "public"."project_grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_grant_roles" ADD CONSTRAINT "project_grant_roles_to_fk" FOREIGN KEY ("to_tenant_id","role_id") REFERENCES "public"."roles"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_grant_tokens" ADD CONSTRAINT "project_grant_tokens_grant_id_project_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."project_grants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_grants" ADD CONSTRAINT "project_grants_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "project_grant_roles_from" ON "project_grant_roles" USING btree ("project_grant_id");--> statement-breakpoint
CREATE INDEX "project_grant_roles_to" ON "project_grant_roles" USING btree ("role_id");--> statement-breakpoint
CREATE INDEX "project_grants_deleted" ON "project_grants" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "project_grants_by_created" ON "project_grants" USING btree ("tenant_id","created_at","id") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "project_grants_by_name" ON "project_grants" USING btree ("tenant_id","name","id") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "project_grants_organization" ON "project_grants" USING btree ("organization_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "project_grants_organization_taken" ON "project_grants" USING btree ("tenant_id","organization_id") WHERE status in ('active', 'suspended') and deleted_at is null;--> statement-breakpoint
CREATE INDEX "project_grants_pending" ON "project_grants" USING btree ("tenant_id") WHERE status = 'pending';