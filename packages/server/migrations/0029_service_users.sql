CREATE TABLE "account_service_users" (
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"role_id" uuid NOT NULL,
	"role_tenant_id" uuid NOT NULL,
	CONSTRAINT "account_service_users_tenant_id_user_id_pk" PRIMARY KEY("tenant_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "created_by_key_id" uuid;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "kind" text DEFAULT 'person' NOT NULL;--> statement-breakpoint
ALTER TABLE "account_service_users" ADD CONSTRAINT "account_service_users_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "account_service_users" ADD CONSTRAINT "account_service_users_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "account_service_users" ADD CONSTRAINT "account_service_users_role_fk" FOREIGN KEY ("role_tenant_id","role_id") REFERENCES "public"."roles"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "account_service_users_user" ON "account_service_users" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "account_service_users_role" ON "account_service_users" USING btree ("role_id");--> statement-breakpoint
CREATE INDEX "api_keys_created_by_key" ON "api_keys" USING btree ("created_by_key_id") WHERE created_by_key_id is not null;