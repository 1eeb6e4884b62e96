-- A user who has verified an address holds no other one against others any more.
-- contract: a former version reads the flag and finds such a claim as it finds one that has lapsed.
UPDATE "authentication_methods" m SET "claims" = false
  FROM "users" u
  WHERE m."claims" AND NOT m."is_verified" AND u."id" = m."user_id" AND u."email_verified";
