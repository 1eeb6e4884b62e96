/**
 * Every environment variable of Doorward, declared once: default, parser, meaning. `config.ts` reads them,
 * `.env.example` is checked against them. A default that is not one fixed text (it depends on `NODE_ENV`,
 * `PORT` or `DATA_DIR`) is described in words here and computed in `config.ts`.
 */
import {
  baseUrl,
  cidr,
  flag,
  host,
  key256,
  listOf,
  mailbox,
  oneOf,
  origin,
  schedule,
  text,
  urlWith,
  whole,
  zeroOr,
} from './config-values.ts';
import type { Parse } from './config-values.ts';

interface Fixed<T> {
  readonly initial: string;
  readonly parse: Parse<T>;
  readonly meaning: string;
}
interface Optional<T> {
  readonly initial?: never;
  /** What holds when the variable is unset. */
  readonly otherwise: string;
  readonly parse: Parse<T>;
  readonly meaning: string;
}

const variable = <T>(initial: string, parse: Parse<T>, meaning: string): Fixed<T> => ({
  initial,
  parse,
  meaning,
});
const optional = <T>(parse: Parse<T>, meaning: string, otherwise = 'unset'): Optional<T> => ({
  otherwise,
  parse,
  meaning,
});

const max = (initial: string, what: string) =>
  variable(initial, whole(1, 10_000_000), `${what}: requests per window`);
const window = (initial: string) => variable(initial, whole(1, 86_400), 'Length of that window in seconds');

const devOnly = 'true outside production, else false';

export const declarations = {
  // Core
  NODE_ENV: variable(
    'development',
    oneOf('development', 'test', 'production'),
    'development, test or production',
  ),
  HOST: variable('0.0.0.0', text(1, 255), 'Address to listen on'),
  PORT: variable('4000', whole(0, 65_535), 'Port to listen on; 0 takes a free one'),
  WORKERS: variable(
    '1',
    whole(1, 64),
    'Processes that serve on this port, 1..64; above 1 only with DATABASE_URL',
  ),
  APP_URL: optional(
    baseUrl,
    'Public base URL: links, issuer, audience. Required in production',
    'http://localhost:<PORT>',
  ),
  APP_URL_ALLOW_HTTP: variable('false', flag, 'Allows an http APP_URL in production'),
  DATABASE_URL: optional(
    urlWith('postgres:', 'postgresql:'),
    'PostgreSQL; unset = embedded database in DATA_DIR',
  ),
  DATA_DIR: variable('./data', text(), 'Directory of the embedded database and of generated secrets'),
  DATABASE_POOL_MAX: variable('10', whole(1, 200), 'Connections to PostgreSQL, 1..200'),
  DATABASE_ACQUIRE_TIMEOUT_MS: variable(
    '2000',
    whole(100, 60_000),
    'Time to connect to PostgreSQL, then 503; 100..60000',
  ),
  DATABASE_STATEMENT_TIMEOUT_MS: variable(
    '5000',
    whole(100, 60_000),
    'Limit of one statement, then 503; 100..60000',
  ),
  REDIS_URL: optional(
    urlWith('redis:', 'rediss:'),
    'Shared rate limits and invalidation; losing it loses no data',
  ),
  ENCRYPTION_KEY: optional(
    key256,
    'base64 of 32 bytes (openssl rand -base64 32). Required in production',
    'generated once in DATA_DIR',
  ),
  ENCRYPTION_KEYS_OLD: optional(listOf(key256), 'Former keys, comma-separated, for reading after a change'),
  LOG_LEVEL: variable(
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'silent'),
    'fatal, error, warn, info, debug or silent',
  ),
  LOG_PRETTY: optional(flag, 'Human-readable logs', devOnly),
  SHUTDOWN_GRACE_SECONDS: variable(
    '10',
    whole(0, 120),
    'Time for open requests at shutdown, 0..120; a second signal forces',
  ),
  MIGRATE_ON_START: variable('true', flag, 'Apply migrations at start, under a lock'),
  BODY_LIMIT_BYTES: variable('1048576', whole(16_384, 10_485_760), 'Largest request body, 16384..10485760'),
  REQUEST_TIMEOUT_SECONDS: variable(
    '60',
    whole(1, 3600),
    'Time for a request to arrive whole, its head in 15 seconds at most; 1..3600',
  ),
  MAX_CONNECTIONS: variable(
    '10000',
    whole(10, 1_000_000),
    'Open connections, 10..1000000; others are closed',
  ),
  DEV_SEED: variable(
    'false',
    flag,
    'Makes a demo organization, project, user and key, and prints a ready request; refused in production',
  ),

  // Tokens and sign-in
  JWT_ACCESS_TOKEN_EXPIRATION_MINUTES: variable('15', whole(1, 60), 'Life of an access token, 1..60'),
  JWT_REFRESH_TOKEN_EXPIRATION_DAYS: variable(
    '30',
    whole(1, 365),
    'Life of a sign-in, whatever is refreshed, 1..365',
  ),
  JWT_RSA_BITS: variable('2048', oneOf('2048', '3072', '4096'), 'Size of new signing keys: 2048, 3072, 4096'),
  JWT_JWKS_MAX_AGE_SECONDS: variable('300', whole(10, 3600), 'How long key sets may be cached, 10..3600'),
  JWT_SYSTEM_KEY_ROTATION_DAYS: variable(
    '90',
    whole(0, 365),
    'Rotation of the system key, 0..365; 0 = never',
  ),
  AUTH_REGISTRATION_MODE: variable(
    'immediate',
    oneOf('immediate', 'verifyFirst', 'closed'),
    'immediate, verifyFirst, or closed (only by invitation)',
  ),
  AUTH_PASSWORD_MIN_LENGTH: variable('12', whole(8, 64), 'Shortest password in characters, 8..64'),
  AUTH_VERIFICATION_GRACE_DAYS: variable('7', whole(0, 90), 'Use without a verified address, 0..90'),
  AUTH_VERIFICATION_TOKEN_HOURS: variable('24', whole(1, 168), 'Life of a verification link, 1..168'),
  AUTH_RESET_TOKEN_MINUTES: variable('60', whole(5, 1440), 'Life of a reset link, 5..1440'),
  AUTH_INVITATION_DAYS: variable('7', whole(1, 90), 'Life of an invitation, 1..90'),
  AUTH_SESSION_IDLE_DAYS: variable('30', whole(1, 365), 'A session without refresh ends after this, 1..365'),
  AUTH_MAX_SESSIONS_PER_USER: variable('50', whole(1, 1000), 'The least recently used one ends, 1..1000'),
  AUTH_LOCKOUT_MAX_FAILURES: variable('10', whole(1, 100), 'Wrong secrets per account and network, 1..100'),
  AUTH_LOCKOUT_WINDOW_MINUTES: variable('15', whole(1, 1440), 'Window of that count and lock-out, 1..1440'),
  AUTH_MFA_ISSUER: variable('Doorward', text(1, 64), 'Name shown in authenticator apps, 1..64 characters'),
  SECURITY_STEP_UP_MAX_AGE_MINUTES: variable(
    '15',
    whole(0, 1440),
    'What a recent sign-in is, 0..1440; 0 = off',
  ),
  GITHUB_CLIENT_ID: optional(text(1, 255), 'GitHub sign-in; with GITHUB_CLIENT_SECRET or not at all'),
  GITHUB_CLIENT_SECRET: optional(text(1, 1024), 'GitHub sign-in; with GITHUB_CLIENT_ID or not at all'),
  GITHUB_WEB_URL: variable('https://github.com', baseUrl, 'Authorize and token endpoints'),
  GITHUB_API_URL: variable('https://api.github.com', baseUrl, 'User endpoints'),

  // Edge
  SECURITY_FRONTEND_URL: optional(
    baseUrl,
    'Target of mail links and default redirects; its origin is allowed',
  ),
  SECURITY_ADDITIONAL_ORIGINS: optional(listOf(origin), 'Further allowed origins, comma-separated'),
  SECURITY_TRUSTED_PROXIES: optional(
    listOf(cidr),
    'Networks whose X-Forwarded-For is believed, comma-separated CIDRs',
  ),
  SECURITY_ALLOWED_HOSTS: optional(
    listOf(host),
    'Host headers that are served, comma-separated; unset = any',
  ),
  SECURITY_HSTS_SECONDS: variable('31536000', whole(0, 63_072_000), 'HSTS, https only, 0..63072000'),
  GRAPHQL_INTROSPECTION: optional(flag, 'Schema introspection', devOnly),
  GRAPHQL_EXPLORER: optional(flag, 'Browser explorer at /graphql', devOnly),
  GRAPHQL_MAX_DEPTH: variable('8', whole(4, 20), 'Nesting of a query, 4..20'),
  GRAPHQL_MAX_ALIASES: variable('15', whole(1, 100), 'Aliases in a query, 1..100'),
  GRAPHQL_MAX_COST: variable('10000', whole(100, 100_000), 'Cost of a query, 100..100000'),
  GRAPHQL_MAX_BATCH: variable('10', whole(1, 50), 'Queries in one request, 1..50'),
  API_DOCS_ENABLED: variable('true', flag, 'Pages at /api-docs; the JSON is always served'),
  METRICS_ENABLED: optional(flag, '/metrics', devOnly),
  METRICS_TOKEN: optional(text(1, 1024), 'Bearer token for /metrics'),

  // Overload
  OVERLOAD_MAX_WAIT_MS: variable(
    '5000',
    whole(100, 60_000),
    'Wait of who comes behind a thousand others, then 503; 100..60000',
  ),
  OVERLOAD_MAX_QUEUE: variable(
    '10000',
    whole(10, 1_000_000),
    'Requests that may wait in a queue, then 503; 10..1000000',
  ),

  // Rate limits (the lock-out of failed sign-ins stays whatever stands here)
  SECURITY_RATE_LIMIT_ENABLED: variable('true', flag, 'Switches the classes below on or off'),
  SECURITY_RATE_LIMIT_GENERAL_MAX: max('1000', 'Everything without a class of its own'),
  SECURITY_RATE_LIMIT_GENERAL_WINDOW_SECONDS: window('60'),
  SECURITY_RATE_LIMIT_AUTH_MAX: max('20', 'Sign-in and registration'),
  SECURITY_RATE_LIMIT_AUTH_WINDOW_SECONDS: window('900'),
  SECURITY_RATE_LIMIT_REFRESH_MAX: max('60', 'Refresh'),
  SECURITY_RATE_LIMIT_REFRESH_WINDOW_SECONDS: window('60'),
  SECURITY_RATE_LIMIT_EXCHANGE_MAX: max('600', 'API key exchange'),
  SECURITY_RATE_LIMIT_EXCHANGE_WINDOW_SECONDS: window('60'),
  SECURITY_RATE_LIMIT_CHECK_MAX: max('60000', 'Access checks'),
  SECURITY_RATE_LIMIT_CHECK_WINDOW_SECONDS: window('60'),
  SECURITY_RATE_LIMIT_MAIL_MAX: max('5', 'Whatever sends mail'),
  SECURITY_RATE_LIMIT_MAIL_WINDOW_SECONDS: window('3600'),
  SECURITY_RATE_LIMIT_EXPORT_MAX: max('5', 'Exports'),
  SECURITY_RATE_LIMIT_EXPORT_WINDOW_SECONDS: window('3600'),

  // Mail, webhooks, retention
  MAIL_PROVIDER: variable(
    'console',
    oneOf('console', 'smtp', 'file'),
    'console, smtp, or file (one file per mail, for tests)',
  ),
  MAIL_CONSOLE_IN_PRODUCTION: variable(
    'false',
    flag,
    'Accepts mails, and the one-time links in them, in the log of a production process',
  ),
  MAIL_FROM: variable('Doorward <no-reply@localhost>', mailbox, 'Sender'),
  MAIL_FILE_DIR: optional(text(), 'Directory of MAIL_PROVIDER=file', '<DATA_DIR>/mail'),
  SMTP_URL: optional(urlWith('smtp:', 'smtps:'), 'smtp(s)://user:pass@host:port; required for smtp'),
  WEBHOOKS_TIMEOUT_MS: variable('15000', whole(1000, 30_000), 'Limit of one delivery attempt, 1000..30000'),
  WEBHOOKS_RETRY_SCHEDULE_SECONDS: variable(
    '5,300,1800,7200,18000,36000,50400,72000,86400',
    schedule,
    'Waits between the attempts, up to 20; none = one attempt only',
  ),
  WEBHOOKS_ALLOW_HTTP: variable('false', flag, 'Allows http targets; refused in production'),
  WEBHOOKS_ALLOWED_PRIVATE_CIDRS: optional(
    listOf(cidr),
    'Private networks that may be reached, comma-separated CIDRs',
  ),
  WEBHOOKS_MAX_PER_PROJECT: variable('50', whole(1, 1000), 'Subscriptions of a project, 1..1000'),
  EVENTS_RETENTION_DAYS: variable('30', whole(1, 365), 'Event feed and pending deliveries, 1..365'),
  AUDIT_RETENTION_DAYS: variable('0', zeroOr(30, 3650), '0 = for ever, else 30..3650'),
  PRIVACY_DELETION_RETENTION_DAYS: variable('30', whole(0, 365), 'Deleted data is purged after this, 0..365'),
  JOBS_ENABLED: variable('true', flag, 'Delivery, expiry notices, purge and rotation in this process'),
} as const satisfies Record<string, Fixed<unknown> | Optional<unknown>>;

/** Name of an environment variable that Doorward knows. */
export type VariableName = keyof typeof declarations;

/** Parsed values by name; `undefined` where the variable is unset and has no fixed default. */
export type Values = {
  readonly [N in VariableName]: (typeof declarations)[N] extends Fixed<infer T>
    ? T
    : (typeof declarations)[N] extends Optional<infer T>
      ? T | undefined
      : never;
};
