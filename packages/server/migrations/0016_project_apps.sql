CREATE TABLE "project_app_tags" (
	"tenant_id" uuid NOT NULL,
	"project_app_id" uuid NOT NULL,
	"tag_id" uuid NOT NULL,
	"to_tenant_id" uuid NOT NULL,
	CONSTRAINT "project_app_tags_tenant_id_project_app_id_tag_id_pk" PRIMARY KEY("tenant_id","project_app_id","tag_id"),
	CONSTRAINT "project_app_tags_one_tenant" CHECK ("project_app_tags"."to_tenant_id" = "project_app_tags"."tenant_id" or "project_app_tags"."to_tenant_id" = '00000000-0000-0000-0000-000000000000')
);
--> statement-breakpoint
CREATE TABLE "project_apps" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"tenant_id" uuid NOT NULL,
	"client_id" uuid NOT NULL,
	"name" text NOT NULL,
	"logo_url" text,
	"homepage_url" text,
	"primary_color" text,
	"redirect_uris" text[] NOT NULL,
	"scopes" text[],
	"enabled_providers" text[] NOT NULL,
	"allow_sign_up" boolean NOT NULL,
	"sign_up_role_id" uuid,
	"sign_up_role_tenant_id" uuid,
	"confidential" boolean NOT NULL,
	"secret_hash" "bytea",
	CONSTRAINT "project_apps_client_id" UNIQUE("client_id"),
	CONSTRAINT "project_apps_tenant_id_id" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "project_codes" (
	"hash" text PRIMARY KEY NOT NULL,
	"app_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"redirect_uri" text NOT NULL,
	"challenge" text NOT NULL,
	"scopes" text[],
	"acr" text NOT NULL,
	"amr" text[] NOT NULL,
	"authenticated_at" timestamp (3) with time zone NOT NULL,
	"session_id" uuid,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "consented_scopes" text[];--> statement-breakpoint
ALTER TABLE "project_app_tags" ADD CONSTRAINT "project_app_tags_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_app_tags" ADD CONSTRAINT "project_app_tags_from_fk" FOREIGN KEY ("tenant_id","project_app_id") REFERENCES "public"."project_apps"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_app_tags" ADD CONSTRAINT "project_app_tags_to_fk" FOREIGN KEY ("to_tenant_id","tag_id") REFERENCES "public"."tags"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_apps" ADD CONSTRAINT "project_apps_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_apps" ADD CONSTRAINT "project_apps_role_fk" FOREIGN KEY ("sign_up_role_tenant_id","sign_up_role_id") REFERENCES "public"."roles"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_codes" ADD CONSTRAINT "project_codes_app_id_project_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."project_apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_codes" ADD CONSTRAINT "project_codes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_codes" ADD CONSTRAINT "project_codes_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "project_app_tags_from" ON "project_app_tags" USING btree ("project_app_id");--> statement-breakpoint
CREATE INDEX "project_app_tags_to" ON "project_app_tags" USING btree ("tag_id");--> statement-breakpoint
CREATE INDEX "project_apps_deleted" ON "project_apps" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "project_apps_tenant" ON "project_apps" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "project_apps_role" ON "project_apps" USING btree ("sign_up_role_id");--> statement-breakpoint
CREATE INDEX "project_codes_app" ON "project_codes" USING btree ("app_id");--> statement-breakpoint
CREATE INDEX "project_codes_user" ON "project_codes" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "project_codes_session" ON "project_codes" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "project_codes_expiry" ON "project_codes" USING btree ("expires_at");--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_project_app_id_project_apps_id_fk" FOREIGN KEY ("project_app_id") REFERENCES "public"."project_apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "sessions_app" ON "sessions" USING btree ("project_app_id");