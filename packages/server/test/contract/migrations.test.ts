/**
 * A version and the one before it serve together on one database, so migrations only add (docs/operating/upgrade.md).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { objectionsTo, statementsOf } from '../support/databases/migration-rule.ts';

/** No running process is of a version before this migration: the rule applies to later ones. */
const BASELINE = '0017_project_sign_in_mails.sql';
const folder = join(import.meta.dirname, '../../migrations');
const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));

test('every migration after the baseline is compatible with the previous version', () => {
  expect(files).toContain(BASELINE);
  const refused = files
    .filter((file) => file > BASELINE)
    .flatMap((file) =>
      objectionsTo(readFileSync(join(folder, file), 'utf8')).map((objection) => ({ file, ...objection })),
    );
  expect(refused).toEqual([]);
});

test('the baseline migrations are parsed completely: each has statements, and the first creates all tables that it alters', () => {
  for (const file of files)
    expect(statementsOf(readFileSync(join(folder, file), 'utf8')).length).toBeGreaterThan(0);
  expect(objectionsTo(readFileSync(join(folder, files[0] ?? ''), 'utf8'))).toEqual([]);
});

test('only the newest snapshot is there, which `npm run migration` compares the tables with', () => {
  const snapshots = readdirSync(join(folder, 'meta')).filter((file) => file.endsWith('_snapshot.json'));
  expect(snapshots).toEqual([`${files.sort().at(-1)?.slice(0, 4)}_snapshot.json`]);
});

describe('incompatible statements', () => {
  test.each([
    'ALTER TABLE "roles" DROP COLUMN "description"',
    'ALTER TABLE roles RENAME COLUMN name TO title',
    'ALTER TABLE "roles" RENAME TO "duties"',
    'DROP TABLE "tags"',
    'DROP INDEX "roles_name_taken"',
    'ALTER TABLE "roles" DROP CONSTRAINT "roles_tenant_id_id"',
    'ALTER TABLE "roles" ALTER COLUMN "description" SET NOT NULL',
    'ALTER TABLE "roles" ALTER COLUMN "name" SET DATA TYPE varchar(64)',
    'ALTER TABLE "roles" ALTER COLUMN "name" TYPE varchar(64)',
    'ALTER TABLE "roles" ALTER COLUMN "name" DROP NOT NULL',
    `ALTER TABLE "roles" ALTER COLUMN "name" SET DEFAULT 'role'`,
    'ALTER TABLE "roles" ADD COLUMN "colour" text NOT NULL',
    `ALTER TABLE "roles" ADD COLUMN "colour" text, DROP COLUMN "name"`,
    `ALTER TABLE "roles" ADD COLUMN "colour" text CHECK (name <> '')`,
    `ALTER TABLE "roles" ADD CONSTRAINT "named" CHECK (name <> '')`,
    'ALTER TABLE "roles" ADD CONSTRAINT "one_name" UNIQUE("name")',
    'CREATE UNIQUE INDEX "one_name" ON "roles" USING btree ("name")',
    'CREATE UNIQUE INDEX one_name ON roles (lower(name))',
    'ALTER TABLE "roles" SET SCHEMA other',
    'ALTER TABLE "roles" ENABLE ROW LEVEL SECURITY',
    'CREATE POLICY "own" ON "roles" USING (true)',
    'CREATE TRIGGER keep BEFORE DELETE ON roles FOR EACH ROW EXECUTE FUNCTION keep()',
    'CREATE OR REPLACE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
    `UPDATE roles SET name = 'a'`,
    'REVOKE ALL ON roles FROM doorward_app',
    `DO $$ BEGIN EXECUTE 'drop table roles'; END $$`,
    'ALTER TYPE colour RENAME TO tint',
  ])('%s', (statement) => {
    expect(
      objectionsTo(`CREATE INDEX "x" ON "roles" ("id");--> statement-breakpoint\n${statement};`),
    ).toHaveLength(1);
    const reason = '-- contract: nothing has read or written it since 0.4, which is the oldest that may run';
    expect(objectionsTo(`${reason}\n${statement};`)).toEqual([]);
    expect(objectionsTo(`-- contract: because\n${statement};`)).toHaveLength(1);
    // The reason of one statement does not apply to the next one.
    expect(objectionsTo(`${reason}\nALTER TABLE "a" DROP COLUMN "b";\n${statement};`)).toHaveLength(1);
  });
});

describe('compatible statements', () => {
  test.each([
    'CREATE TABLE "notes" ("id" uuid PRIMARY KEY NOT NULL, "text" text NOT NULL, CONSTRAINT "said" UNIQUE("text"))',
    'CREATE TABLE "notes" ("id" uuid);--> statement-breakpoint\nALTER TABLE "notes" ADD CONSTRAINT "n" CHECK (id is not null)',
    'CREATE TABLE notes (id uuid);\nCREATE UNIQUE INDEX one ON public.notes (id);\nALTER TABLE "public"."notes" ENABLE ROW LEVEL SECURITY',
    'ALTER TABLE "roles" ADD COLUMN "colour" text',
    `ALTER TABLE "roles" ADD COLUMN "colour" text DEFAULT 'red' NOT NULL`,
    'ALTER TABLE "roles" ADD COLUMN "colour" text;--> statement-breakpoint\nALTER TABLE "roles" ADD CONSTRAINT "one_colour" UNIQUE("colour")',
    'CREATE INDEX "by_name" ON "roles" USING btree ("name")',
    'ALTER TABLE "nodes" SET (fillfactor = 10)',
    `CREATE FUNCTION f() RETURNS text LANGUAGE sql AS $$ select 'drop table roles; --' $$`,
    `COMMENT ON TABLE roles IS 'drop table; it''s said'`,
  ])('%s', (migration) => {
    expect(objectionsTo(migration)).toEqual([]);
  });
});
