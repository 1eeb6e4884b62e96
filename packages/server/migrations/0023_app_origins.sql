ALTER TABLE "project_apps" ADD COLUMN "allowed_origins" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
CREATE INDEX "project_apps_origins" ON "project_apps" USING gin ("allowed_origins");