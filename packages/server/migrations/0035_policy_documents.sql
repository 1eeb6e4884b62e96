CREATE TABLE "policy_documents" (
	"tenant_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"document" jsonb NOT NULL,
	CONSTRAINT "policy_documents_tenant_id_number_pk" PRIMARY KEY("tenant_id","number")
);
--> statement-breakpoint
CREATE TABLE "policy_versions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"version" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" jsonb NOT NULL,
	"message" text,
	"source" jsonb,
	"counts" jsonb NOT NULL,
	"rollback_of" integer,
	"document_hash" text NOT NULL,
	CONSTRAINT "policy_versions_number" UNIQUE("tenant_id","number")
);
--> statement-breakpoint
ALTER TABLE "groups" ADD COLUMN "policy_key" text;--> statement-breakpoint
ALTER TABLE "groups" ADD COLUMN "policy_hold" text;--> statement-breakpoint
ALTER TABLE "permissions" ADD COLUMN "policy_key" text;--> statement-breakpoint
ALTER TABLE "permissions" ADD COLUMN "policy_hold" text;--> statement-breakpoint
ALTER TABLE "resources" ADD COLUMN "policy_key" text;--> statement-breakpoint
ALTER TABLE "resources" ADD COLUMN "policy_hold" text;--> statement-breakpoint
ALTER TABLE "roles" ADD COLUMN "policy_key" text;--> statement-breakpoint
ALTER TABLE "roles" ADD COLUMN "policy_hold" text;--> statement-breakpoint
ALTER TABLE "tags" ADD COLUMN "policy_key" text;--> statement-breakpoint
ALTER TABLE "tags" ADD COLUMN "policy_hold" text;--> statement-breakpoint
ALTER TABLE "policy_documents" ADD CONSTRAINT "policy_documents_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "policy_versions" ADD CONSTRAINT "policy_versions_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;