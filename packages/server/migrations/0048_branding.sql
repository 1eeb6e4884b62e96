CREATE TABLE "logos" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"media_type" text NOT NULL,
	"bytes" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "logos_name" UNIQUE("name")
);
--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "logo_url" text;--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "primary_color" text;--> statement-breakpoint
ALTER TABLE "project_apps" ADD COLUMN "sender_name" text;--> statement-breakpoint
ALTER TABLE "project_apps" ADD COLUMN "texts" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "logos" ADD CONSTRAINT "logos_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE cascade ON UPDATE no action;