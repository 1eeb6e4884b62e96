import { sql } from 'drizzle-orm';
import { setUpConsole, type ConsoleSetup } from './console.ts';

/** The console of a project with this many tags, named `tag 00001` and so on. */
export const setUpWithTags = (count: number): Promise<ConsoleSetup> =>
  setUpConsole({}, (database, { key: { scope } }) =>
    database.execute(sql`
      insert into tags (id, tenant_id, name, color, metadata, created_at, updated_at)
      select gen_random_uuid(), ${scope.id.split(':')[1]}::uuid, 'tag ' || lpad(n::text, 5, '0'), 'teal', '{}',
        now() - n * interval '1 second', now()
      from generate_series(1, ${count}) n`),
  );
