/**
 * During an upgrade the previous version of the service runs on the schema of the new one (docs/operating/upgrade.md).
 * So a migration only adds: a statement that is not known to be compatible is refused, unless a line `-- contract: …`
 * within the statement says why no version that may still run needs what it removes.
 */
interface Objection {
  /** The statement, in one line and shortened. */
  readonly statement: string;
  readonly why: string;
}

/** A shorter text is not a reason. */
const REASON = /^\s*--\s*contract:\s*\S.{19,}$/m;

const name = (text: string): string =>
  text
    .replaceAll('"', '')
    .replace(/^public\./i, '')
    .toLowerCase();
const names = (list: string): string[] => list.split(',').map((item) => name(item.trim()));

/**
 * Splits at the marks of the generator and at semicolons outside of quotes; comments stay, because they contain the
 * reasons.
 */
export function statementsOf(migration: string): string[] {
  const quoted = /\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|--[^\n]*|;/g;
  const separated = migration.replace(quoted, (match) =>
    match === ';' || match.startsWith('--> statement-breakpoint') ? '\0' : match,
  );
  return separated.split('\0').filter((item) => bare(item) !== '');
}

/** Without comments and the bodies of functions, in one line. */
const bare = (statement: string): string =>
  statement
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, '$$body$$')
    .replace(/--[^\n]*/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/** Everything in a migration that is incompatible with a process of the previous version. */
export function objectionsTo(migration: string): Objection[] {
  const created = new Set<string>();
  /** `table.column`: the previous version neither reads nor writes it. */
  const added = new Set<string>();
  const objections: Objection[] = [];
  for (const statement of statementsOf(migration)) {
    const sql = bare(statement);
    const why = objectionTo(sql, created, added);
    if (why && !REASON.test(statement)) objections.push({ statement: sql.slice(0, 100), why });
  }
  return objections;
}

function objectionTo(sql: string, created: Set<string>, added: Set<string>): string | null {
  const table = /^create table (?:if not exists )?([\w".]+)/i.exec(sql);
  if (table) {
    created.add(name(table[1] ?? ''));
    return null;
  }
  if (/^(?:create (?:function|sequence|type|view)|comment on|grant) /i.test(sql)) return null;
  const on =
    /^create (?:unique )?index (?:concurrently )?(?:if not exists )?[\w".]+ on (?:only )?([\w".]+)/i.exec(
      sql,
    ) ??
    /^create trigger .*? on ([\w".]+)/i.exec(sql) ??
    /^alter table (?:only )?([\w".]+)/i.exec(sql);
  if (!on) return 'it is none of the statements that are known to be harmless';
  const subject = name(on[1] ?? '');
  if (created.has(subject)) return null;
  if (/^create index /i.test(sql)) return null;
  if (/^create unique index/i.test(sql)) {
    const columns = /\(([\w", ]+)\)/.exec(sql.slice(on[0].length))?.[1];
    return columns && areNew(subject, columns, added)
      ? null
      : 'what the former version writes may not be unique';
  }
  if (/^create trigger/i.test(sql)) return 'a trigger may refuse what the former version does';
  return alteration(subject, sql.slice(on[0].length).trim(), added);
}

const areNew = (table: string, columns: string, added: ReadonlySet<string>): boolean =>
  names(columns).every((column) => added.has(`${table}.${column}`));

/** One action of ALTER TABLE on a table that existed before. */
function alteration(table: string, action: string, added: Set<string>): string | null {
  const column = /^add column (?:if not exists )?("?\w+"?) (.*)$/i.exec(action);
  if (column) {
    const [, called = '', kind = ''] = column;
    if (/, *(?:add|alter|drop|rename) /i.test(kind))
      return 'write one action a statement, so that each can be judged';
    if (/\bnot null\b/i.test(kind) && !/\b(?:default|generated)\b/i.test(kind))
      return 'the former version does not fill it';
    if (/\bcheck\b/i.test(kind)) return 'a check may refuse what the former version writes';
    added.add(`${table}.${name(called)}`);
    return null;
  }
  const constraint = /^add constraint "?\w+"? (?:unique|foreign key) ?\(([^)]*)\)/i.exec(action);
  if (constraint && areNew(table, constraint[1] ?? '', added)) return null;
  // Storage parameters of a table cannot be observed by a statement.
  if (/^set \([\w\s=,.]+\)$/i.test(action)) return null;
  for (const [form, why] of refused) if (form.test(action)) return why;
  return 'it is none of the changes that are known to be harmless';
}

const refused: readonly (readonly [RegExp, string])[] = [
  [
    /^add (?:constraint|check|unique|foreign|primary|exclude)/i,
    'it may refuse what the former version writes',
  ],
  [/^drop (?:column )/i, 'the former version names this column'],
  [/^drop constraint/i, 'an ON CONFLICT of the former version may need it'],
  [/^rename/i, 'the former version knows the former name'],
  [/^alter column "?\w+"? set not null/i, 'the former version may leave it empty'],
  [/^alter column "?\w+"? (?:set data )?type/i, 'the former version reads and writes the former type'],
  [/^alter column "?\w+"? drop not null/i, 'the former version takes it to be there'],
  [/^alter column "?\w+"? (?:set|drop) default/i, 'rows of the former version would become other ones'],
  [/row level security/i, 'the former version does not say for whom it asks'],
];
