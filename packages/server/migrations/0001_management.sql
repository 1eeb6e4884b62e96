CREATE TABLE "idempotency_keys" (
	"credential" text NOT NULL,
	"operation" text NOT NULL,
	"key" text NOT NULL,
	"input_hash" text NOT NULL,
	"status" integer NOT NULL,
	"answer" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_credential_operation_key_pk" PRIMARY KEY("credential","operation","key")
);
--> statement-breakpoint
CREATE TABLE "organization_invitation_tokens" (
	"hash" text PRIMARY KEY NOT NULL,
	"invitation_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "organization_invitation_tokens_invitation" UNIQUE("invitation_id")
);
--> statement-breakpoint
CREATE TABLE "organization_invitations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"tenant_id" uuid NOT NULL,
	"email" text NOT NULL,
	"role_id" uuid NOT NULL,
	"role_tenant_id" uuid NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"invited_by" uuid NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"last_sent_at" timestamp (3) with time zone NOT NULL,
	"accepted_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "user_tags" (
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"tag_id" uuid NOT NULL,
	"to_tenant_id" uuid NOT NULL,
	CONSTRAINT "user_tags_tenant_id_user_id_tag_id_pk" PRIMARY KEY("tenant_id","user_id","tag_id"),
	CONSTRAINT "user_tags_one_tenant" CHECK ("user_tags"."to_tenant_id" = "user_tags"."tenant_id" or "user_tags"."to_tenant_id" = '00000000-0000-0000-0000-000000000000')
);
--> statement-breakpoint
ALTER TABLE "organization_members" ADD COLUMN "updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "project_users" ADD COLUMN "updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "managed_by" uuid;--> statement-breakpoint
ALTER TABLE "organization_invitation_tokens" ADD CONSTRAINT "organization_invitation_tokens_invitation_id_organization_invitations_id_fk" FOREIGN KEY ("invitation_id") REFERENCES "public"."organization_invitations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_invitations" ADD CONSTRAINT "organization_invitations_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_invitations" ADD CONSTRAINT "organization_invitations_invited_by_users_id_fk" FOREIGN KEY ("invited_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_invitations" ADD CONSTRAINT "organization_invitations_role_fk" FOREIGN KEY ("role_tenant_id","role_id") REFERENCES "public"."roles"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_tags" ADD CONSTRAINT "user_tags_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_tags" ADD CONSTRAINT "user_tags_from_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_tags" ADD CONSTRAINT "user_tags_to_fk" FOREIGN KEY ("to_tenant_id","tag_id") REFERENCES "public"."tags"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "idempotency_keys_created" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "organization_invitations_tenant" ON "organization_invitations" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "organization_invitations_role" ON "organization_invitations" USING btree ("role_id");--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_email_taken" ON "organization_invitations" USING btree ("tenant_id","email") WHERE status = 'pending' and deleted_at is null;--> statement-breakpoint
CREATE INDEX "user_tags_to" ON "user_tags" USING btree ("tag_id");--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_managed_by_nodes_id_fk" FOREIGN KEY ("managed_by") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;