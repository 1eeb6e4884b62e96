CREATE TABLE "prepared_operators" (
	"address" text PRIMARY KEY NOT NULL,
	"role_id" uuid NOT NULL,
	"reason" text,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
