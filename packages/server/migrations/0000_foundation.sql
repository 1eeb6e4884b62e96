CREATE TABLE "nodes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"parent_id" uuid,
	"policy_version" bigint DEFAULT 0 NOT NULL,
	"audit_sequence" bigint DEFAULT 0 NOT NULL,
	"audit_hash" char(64) DEFAULT '0000000000000000000000000000000000000000000000000000000000000000' NOT NULL,
	"event_sequence" bigint DEFAULT 0 NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"sequence" bigint NOT NULL,
	"occurred_at" timestamp (3) with time zone NOT NULL,
	"scope" jsonb NOT NULL,
	"operation" text NOT NULL,
	"event" text,
	"outcome" text NOT NULL,
	"code" text,
	"reason" text,
	"actor" jsonb NOT NULL,
	"target" jsonb,
	"changes" jsonb,
	"metadata" jsonb NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"request_id" text NOT NULL,
	"previous_hash" char(64) NOT NULL,
	"hash" char(64) NOT NULL,
	"personal_digest" char(64) NOT NULL,
	"salt" text,
	CONSTRAINT "audit_log_sequence" UNIQUE("tenant_id","sequence")
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"sequence" bigint NOT NULL,
	"type" text NOT NULL,
	"occurred_at" timestamp (3) with time zone NOT NULL,
	"body" jsonb NOT NULL,
	CONSTRAINT "events_sequence" UNIQUE("tenant_id","sequence")
);
--> statement-breakpoint
CREATE TABLE "mails" (
	"id" uuid PRIMARY KEY NOT NULL,
	"sealed" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "installation" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "signing_key_secrets" (
	"key_id" uuid PRIMARY KEY NOT NULL,
	"sealed" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "signing_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"kid" text NOT NULL,
	"algorithm" text DEFAULT 'RS256' NOT NULL,
	"issuer" text NOT NULL,
	"status" text NOT NULL,
	"public_key_pem" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"activated_at" timestamp (3) with time zone,
	"retired_at" timestamp (3) with time zone,
	"published_until" timestamp (3) with time zone,
	CONSTRAINT "signing_keys_kid" UNIQUE("kid")
);
--> statement-breakpoint
CREATE TABLE "api_key_secrets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"key_id" uuid NOT NULL,
	"hash" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"tenant_id" uuid NOT NULL,
	"client_id" uuid NOT NULL,
	"scope_tenant" text NOT NULL,
	"scope_id" text NOT NULL,
	"role_id" uuid,
	"role_tenant_id" uuid,
	"user_id" uuid NOT NULL,
	"name" text,
	"description" text,
	"expires_at" timestamp (3) with time zone,
	"allowed_cidrs" text[] NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"last_used_ip" text,
	"created_by" uuid NOT NULL,
	"revoked_by" uuid,
	"revoked_at" timestamp (3) with time zone,
	"revoked_reason" text,
	"rotated_at" timestamp (3) with time zone,
	"previous_secret_expires_at" timestamp (3) with time zone,
	CONSTRAINT "api_keys_client_id" UNIQUE("client_id")
);
--> statement-breakpoint
CREATE TABLE "one_time_tokens" (
	"hash" text PRIMARY KEY NOT NULL,
	"purpose" text NOT NULL,
	"user_id" uuid NOT NULL,
	"address" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "group_permissions" (
	"tenant_id" uuid NOT NULL,
	"group_id" uuid NOT NULL,
	"permission_id" uuid NOT NULL,
	"to_tenant_id" uuid NOT NULL,
	CONSTRAINT "group_permissions_tenant_id_group_id_permission_id_pk" PRIMARY KEY("tenant_id","group_id","permission_id"),
	CONSTRAINT "group_permissions_one_tenant" CHECK ("group_permissions"."to_tenant_id" = "group_permissions"."tenant_id" or "group_permissions"."to_tenant_id" = '00000000-0000-0000-0000-000000000000')
);
--> statement-breakpoint
CREATE TABLE "group_tags" (
	"tenant_id" uuid NOT NULL,
	"group_id" uuid NOT NULL,
	"tag_id" uuid NOT NULL,
	"to_tenant_id" uuid NOT NULL,
	CONSTRAINT "group_tags_tenant_id_group_id_tag_id_pk" PRIMARY KEY("tenant_id","group_id","tag_id"),
	CONSTRAINT "group_tags_one_tenant" CHECK ("group_tags"."to_tenant_id" = "group_tags"."tenant_id" or "group_tags"."to_tenant_id" = '00000000-0000-0000-0000-000000000000')
);
--> statement-breakpoint
CREATE TABLE "groups" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"is_system" boolean DEFAULT false NOT NULL,
	CONSTRAINT "groups_tenant_id_id" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "authentication_methods" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"provider" text NOT NULL,
	"provider_id" text NOT NULL,
	"label" text NOT NULL,
	"is_verified" boolean DEFAULT false NOT NULL,
	"is_primary" boolean DEFAULT false NOT NULL,
	"claims" boolean DEFAULT false NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passwords" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"project_app_id" uuid,
	"acr" text DEFAULT 'aal1' NOT NULL,
	"amr" text[] NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"authenticated_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"generation" integer DEFAULT 0 NOT NULL,
	"refresh_hash" text NOT NULL,
	"previous_hash" text,
	"rotated_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "organization_members" (
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"role_id" uuid NOT NULL,
	"role_tenant_id" uuid NOT NULL,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "organization_members_tenant_id_user_id_pk" PRIMARY KEY("tenant_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "organization_tags" (
	"tenant_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"tag_id" uuid NOT NULL,
	"to_tenant_id" uuid NOT NULL,
	CONSTRAINT "organization_tags_tenant_id_organization_id_tag_id_pk" PRIMARY KEY("tenant_id","organization_id","tag_id"),
	CONSTRAINT "organization_tags_one_tenant" CHECK ("organization_tags"."to_tenant_id" = "organization_tags"."tenant_id" or "organization_tags"."to_tenant_id" = '00000000-0000-0000-0000-000000000000')
);
--> statement-breakpoint
CREATE TABLE "organizations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"account_id" uuid NOT NULL,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"require_mfa_for_sensitive_actions" boolean DEFAULT false NOT NULL,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "permission_tags" (
	"tenant_id" uuid NOT NULL,
	"permission_id" uuid NOT NULL,
	"tag_id" uuid NOT NULL,
	"to_tenant_id" uuid NOT NULL,
	CONSTRAINT "permission_tags_tenant_id_permission_id_tag_id_pk" PRIMARY KEY("tenant_id","permission_id","tag_id"),
	CONSTRAINT "permission_tags_one_tenant" CHECK ("permission_tags"."to_tenant_id" = "permission_tags"."tenant_id" or "permission_tags"."to_tenant_id" = '00000000-0000-0000-0000-000000000000')
);
--> statement-breakpoint
CREATE TABLE "permissions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"resource_id" uuid NOT NULL,
	"resource_tenant_id" uuid NOT NULL,
	"action" text NOT NULL,
	"condition" jsonb,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"is_system" boolean DEFAULT false NOT NULL,
	CONSTRAINT "permissions_tenant_id_id" UNIQUE("tenant_id","id"),
	CONSTRAINT "permissions_one_tenant" CHECK ("permissions"."resource_tenant_id" = "permissions"."tenant_id" or "permissions"."resource_tenant_id" = '00000000-0000-0000-0000-000000000000')
);
--> statement-breakpoint
CREATE TABLE "project_tags" (
	"tenant_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"tag_id" uuid NOT NULL,
	"to_tenant_id" uuid NOT NULL,
	CONSTRAINT "project_tags_tenant_id_project_id_tag_id_pk" PRIMARY KEY("tenant_id","project_id","tag_id"),
	CONSTRAINT "project_tags_one_tenant" CHECK ("project_tags"."to_tenant_id" = "project_tags"."tenant_id" or "project_tags"."to_tenant_id" = '00000000-0000-0000-0000-000000000000')
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"owner_id" uuid NOT NULL,
	"owner_kind" text NOT NULL,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"description" text,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "resource_tags" (
	"tenant_id" uuid NOT NULL,
	"resource_id" uuid NOT NULL,
	"tag_id" uuid NOT NULL,
	"to_tenant_id" uuid NOT NULL,
	CONSTRAINT "resource_tags_tenant_id_resource_id_tag_id_pk" PRIMARY KEY("tenant_id","resource_id","tag_id"),
	CONSTRAINT "resource_tags_one_tenant" CHECK ("resource_tags"."to_tenant_id" = "resource_tags"."tenant_id" or "resource_tags"."to_tenant_id" = '00000000-0000-0000-0000-000000000000')
);
--> statement-breakpoint
CREATE TABLE "resources" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"description" text,
	"actions" text[] NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"is_system" boolean DEFAULT false NOT NULL,
	CONSTRAINT "resources_tenant_id_id" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "role_groups" (
	"tenant_id" uuid NOT NULL,
	"role_id" uuid NOT NULL,
	"group_id" uuid NOT NULL,
	"to_tenant_id" uuid NOT NULL,
	CONSTRAINT "role_groups_tenant_id_role_id_group_id_pk" PRIMARY KEY("tenant_id","role_id","group_id"),
	CONSTRAINT "role_groups_one_tenant" CHECK ("role_groups"."to_tenant_id" = "role_groups"."tenant_id" or "role_groups"."to_tenant_id" = '00000000-0000-0000-0000-000000000000')
);
--> statement-breakpoint
CREATE TABLE "role_tags" (
	"tenant_id" uuid NOT NULL,
	"role_id" uuid NOT NULL,
	"tag_id" uuid NOT NULL,
	"to_tenant_id" uuid NOT NULL,
	CONSTRAINT "role_tags_tenant_id_role_id_tag_id_pk" PRIMARY KEY("tenant_id","role_id","tag_id"),
	CONSTRAINT "role_tags_one_tenant" CHECK ("role_tags"."to_tenant_id" = "role_tags"."tenant_id" or "role_tags"."to_tenant_id" = '00000000-0000-0000-0000-000000000000')
);
--> statement-breakpoint
CREATE TABLE "roles" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"level" text NOT NULL,
	"is_system" boolean DEFAULT false NOT NULL,
	CONSTRAINT "roles_tenant_id_id" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "tags" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"color" text NOT NULL,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	CONSTRAINT "tags_tenant_id_id" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"type" text NOT NULL,
	"owner_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "project_user_roles" (
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"role_id" uuid NOT NULL,
	"role_tenant_id" uuid NOT NULL,
	CONSTRAINT "project_user_roles_tenant_id_user_id_role_id_pk" PRIMARY KEY("tenant_id","user_id","role_id")
);
--> statement-breakpoint
CREATE TABLE "project_users" (
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "project_users_tenant_id_user_id_pk" PRIMARY KEY("tenant_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"name" text NOT NULL,
	"email" text,
	"email_verified" boolean DEFAULT false NOT NULL,
	"picture_url" text,
	"locale" text,
	"status" text DEFAULT 'active' NOT NULL,
	"is_managed" boolean DEFAULT false NOT NULL,
	"verification_deadline" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "signing_key_secrets" ADD CONSTRAINT "signing_key_secrets_key_id_signing_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."signing_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "signing_keys" ADD CONSTRAINT "signing_keys_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_key_secrets" ADD CONSTRAINT "api_key_secrets_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "one_time_tokens" ADD CONSTRAINT "one_time_tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "group_permissions" ADD CONSTRAINT "group_permissions_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "group_permissions" ADD CONSTRAINT "group_permissions_from_fk" FOREIGN KEY ("tenant_id","group_id") REFERENCES "public"."groups"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "group_permissions" ADD CONSTRAINT "group_permissions_to_fk" FOREIGN KEY ("to_tenant_id","permission_id") REFERENCES "public"."permissions"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "group_tags" ADD CONSTRAINT "group_tags_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "group_tags" ADD CONSTRAINT "group_tags_from_fk" FOREIGN KEY ("tenant_id","group_id") REFERENCES "public"."groups"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "group_tags" ADD CONSTRAINT "group_tags_to_fk" FOREIGN KEY ("to_tenant_id","tag_id") REFERENCES "public"."tags"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "groups" ADD CONSTRAINT "groups_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "authentication_methods" ADD CONSTRAINT "authentication_methods_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passwords" ADD CONSTRAINT "passwords_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_members" ADD CONSTRAINT "organization_members_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_members" ADD CONSTRAINT "organization_members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_members" ADD CONSTRAINT "organization_members_role_fk" FOREIGN KEY ("role_tenant_id","role_id") REFERENCES "public"."roles"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_tags" ADD CONSTRAINT "organization_tags_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_tags" ADD CONSTRAINT "organization_tags_from_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_tags" ADD CONSTRAINT "organization_tags_to_fk" FOREIGN KEY ("to_tenant_id","tag_id") REFERENCES "public"."tags"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organizations" ADD CONSTRAINT "organizations_account_id_nodes_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "permission_tags" ADD CONSTRAINT "permission_tags_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "permission_tags" ADD CONSTRAINT "permission_tags_from_fk" FOREIGN KEY ("tenant_id","permission_id") REFERENCES "public"."permissions"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "permission_tags" ADD CONSTRAINT "permission_tags_to_fk" FOREIGN KEY ("to_tenant_id","tag_id") REFERENCES "public"."tags"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "permissions" ADD CONSTRAINT "permissions_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "permissions" ADD CONSTRAINT "permissions_resource_fk" FOREIGN KEY ("resource_tenant_id","resource_id") REFERENCES "public"."resources"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_tags" ADD CONSTRAINT "project_tags_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_tags" ADD CONSTRAINT "project_tags_from_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_tags" ADD CONSTRAINT "project_tags_to_fk" FOREIGN KEY ("to_tenant_id","tag_id") REFERENCES "public"."tags"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "projects" ADD CONSTRAINT "projects_owner_id_nodes_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "resource_tags" ADD CONSTRAINT "resource_tags_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "resource_tags" ADD CONSTRAINT "resource_tags_from_fk" FOREIGN KEY ("tenant_id","resource_id") REFERENCES "public"."resources"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "resource_tags" ADD CONSTRAINT "resource_tags_to_fk" FOREIGN KEY ("to_tenant_id","tag_id") REFERENCES "public"."tags"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "resources" ADD CONSTRAINT "resources_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "role_groups" ADD CONSTRAINT "role_groups_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "role_groups" ADD CONSTRAINT "role_groups_from_fk" FOREIGN KEY ("tenant_id","role_id") REFERENCES "public"."roles"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "role_groups" ADD CONSTRAINT "role_groups_to_fk" FOREIGN KEY ("to_tenant_id","group_id") REFERENCES "public"."groups"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "role_tags" ADD CONSTRAINT "role_tags_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "role_tags" ADD CONSTRAINT "role_tags_from_fk" FOREIGN KEY ("tenant_id","role_id") REFERENCES "public"."roles"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "role_tags" ADD CONSTRAINT "role_tags_to_fk" FOREIGN KEY ("to_tenant_id","tag_id") REFERENCES "public"."tags"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "roles" ADD CONSTRAINT "roles_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tags" ADD CONSTRAINT "tags_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_user_roles" ADD CONSTRAINT "project_user_roles_member_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."project_users"("tenant_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_user_roles" ADD CONSTRAINT "project_user_roles_role_fk" FOREIGN KEY ("role_tenant_id","role_id") REFERENCES "public"."roles"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_users" ADD CONSTRAINT "project_users_tenant_id_nodes_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_users" ADD CONSTRAINT "project_users_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "nodes_parent" ON "nodes" USING btree ("parent_id");--> statement-breakpoint
CREATE INDEX "mails_due" ON "mails" USING btree ("next_attempt_at");--> statement-breakpoint
CREATE INDEX "signing_keys_tenant" ON "signing_keys" USING btree ("tenant_id");--> statement-breakpoint
CREATE UNIQUE INDEX "signing_keys_one_current" ON "signing_keys" USING btree ("tenant_id","status") WHERE status in ('active', 'next');--> statement-breakpoint
CREATE INDEX "api_key_secrets_key" ON "api_key_secrets" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "api_keys_tenant" ON "api_keys" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "api_keys_role" ON "api_keys" USING btree ("role_id");--> statement-breakpoint
CREATE INDEX "api_keys_user" ON "api_keys" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "one_time_tokens_user" ON "one_time_tokens" USING btree ("user_id","purpose");--> statement-breakpoint
CREATE INDEX "group_permissions_to" ON "group_permissions" USING btree ("permission_id");--> statement-breakpoint
CREATE INDEX "group_tags_to" ON "group_tags" USING btree ("tag_id");--> statement-breakpoint
CREATE INDEX "authentication_methods_user" ON "authentication_methods" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "authentication_methods_provider_id_taken" ON "authentication_methods" USING btree ("provider","provider_id") WHERE claims;--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "organization_members_user" ON "organization_members" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "organization_members_role" ON "organization_members" USING btree ("role_id");--> statement-breakpoint
CREATE INDEX "organization_tags_to" ON "organization_tags" USING btree ("tag_id");--> statement-breakpoint
CREATE INDEX "organizations_account" ON "organizations" USING btree ("account_id");--> statement-breakpoint
CREATE UNIQUE INDEX "organizations_slug_taken" ON "organizations" USING btree ("slug") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "permission_tags_to" ON "permission_tags" USING btree ("tag_id");--> statement-breakpoint
CREATE INDEX "permissions_resource" ON "permissions" USING btree ("resource_id");--> statement-breakpoint
CREATE INDEX "project_tags_to" ON "project_tags" USING btree ("tag_id");--> statement-breakpoint
CREATE UNIQUE INDEX "projects_slug_taken" ON "projects" USING btree ("owner_id","slug") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "resource_tags_to" ON "resource_tags" USING btree ("tag_id");--> statement-breakpoint
CREATE UNIQUE INDEX "resources_slug_taken" ON "resources" USING btree ("tenant_id","slug") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "role_groups_to" ON "role_groups" USING btree ("group_id");--> statement-breakpoint
CREATE INDEX "role_tags_to" ON "role_tags" USING btree ("tag_id");--> statement-breakpoint
CREATE UNIQUE INDEX "tags_name_taken" ON "tags" USING btree ("tenant_id",lower("name")) WHERE deleted_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_type_taken" ON "accounts" USING btree ("owner_id","type") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "project_user_roles_role" ON "project_user_roles" USING btree ("role_id");--> statement-breakpoint
CREATE INDEX "project_users_user" ON "project_users" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "users_email" ON "users" USING btree ("email");