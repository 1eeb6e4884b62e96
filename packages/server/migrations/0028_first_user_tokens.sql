CREATE TABLE "first_user_tokens" (
	"issuer" text PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "first_user_tokens_hash_unique" UNIQUE("hash")
);
