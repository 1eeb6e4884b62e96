/**
 * Declares every environment variable with its default, parser and meaning. `config.ts` reads them, and a test compares
 * `.env.example` with them. A default that depends on other variables is only described here; `config.ts` computes it.
 */
import {
  address,
  ipAddress,
  baseUrl,
  cidr,
  flag,
  host,
  key256,
  listOf,
  mailbox,
  oneOf,
  origin,
  rpId,
  schedule,
  text,
  urlWith,
  integer,
  zeroOrInteger,
} from './values.ts';
import { identityProviders, identityProvidersFile } from './identity-providers.ts';
import { optional, variable, type Fixed, type Optional } from './declaration.ts';

const requestsPerWindow = (initial: string, what: string) =>
  variable(initial, integer(1, 10_000_000), `${what}: requests per window`);
const windowSeconds = (initial: string) =>
  variable(initial, integer(1, 86_400), 'Length of the window in seconds');

const devOnly = 'true outside production, else false';

export const declarations = {
  // Core
  NODE_ENV: variable(
    'development',
    oneOf('development', 'test', 'production'),
    'development, test or production',
  ),
  HOST: variable('0.0.0.0', text(1, 255), 'Address to listen on'),
  PORT: variable('4000', integer(0, 65_535), 'Port to listen on; 0 = a free one'),
  WORKERS: variable(
    '1',
    integer(1, 64),
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
  DATABASE_POOL_MAX: variable('10', integer(1, 200), 'Connections to PostgreSQL, 1..200'),
  DATABASE_ACQUIRE_TIMEOUT_MS: variable(
    '2000',
    integer(100, 60_000),
    'Time to connect to PostgreSQL, then 503; 100..60000',
  ),
  DATABASE_STATEMENT_TIMEOUT_MS: variable(
    '5000',
    integer(100, 60_000),
    'Limit of one statement, then 503; 100..60000',
  ),
  REDIS_URL: optional(
    urlWith('redis:', 'rediss:'),
    'Redis for rate limits that all processes share; unset = each process counts its own. It stores no other data',
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
    integer(0, 120),
    'Time for open requests at shutdown, 0..120; a second signal stops at once',
  ),
  MIGRATE_ON_START: variable('true', flag, 'Apply migrations at start, under a lock'),
  BODY_LIMIT_BYTES: variable('1048576', integer(16_384, 10_485_760), 'Largest request body, 16384..10485760'),
  REQUEST_TIMEOUT_SECONDS: variable(
    '60',
    integer(1, 3600),
    'Time for a complete request to arrive, 1..3600; its headers must arrive within 15 seconds',
  ),
  MAX_CONNECTIONS: variable(
    '10000',
    integer(10, 1_000_000),
    'Maximum number of open connections, 10..1000000; further ones are closed',
  ),
  DEV_SEED: variable(
    'false',
    flag,
    'Creates a demo organization, project, user and key, and prints an example request; refused in production',
  ),

  // Tokens and sign-in
  JWT_ACCESS_TOKEN_EXPIRATION_MINUTES: variable(
    '15',
    integer(1, 60),
    'Life of an access token in minutes, 1..60',
  ),
  JWT_REFRESH_TOKEN_EXPIRATION_DAYS: variable(
    '30',
    integer(1, 365),
    'Life of a session, whether or not it is refreshed, 1..365',
  ),
  JWT_RSA_BITS: variable('2048', oneOf('2048', '3072', '4096'), 'Size of new signing keys: 2048, 3072, 4096'),
  JWT_JWKS_MAX_AGE_SECONDS: variable(
    '300',
    integer(10, 3600),
    'Seconds for which clients may cache key sets, 10..3600',
  ),
  JWT_SYSTEM_KEY_ROTATION_DAYS: variable(
    '90',
    integer(0, 365),
    'Days between rotations of the key that signs session tokens, 0..365; 0 = never',
  ),
  AUTH_REGISTRATION_MODE: variable(
    'immediate',
    oneOf('immediate', 'verifyFirst', 'closed'),
    'immediate, verifyFirst, or closed (only by invitation; the first user by link)',
  ),
  AUTH_PASSWORD_MIN_LENGTH: variable('12', integer(8, 64), 'Shortest password in characters, 8..64'),
  AUTH_VERIFICATION_GRACE_DAYS: variable(
    '7',
    integer(0, 90),
    'Days for which a user may work without a verified address, 0..90',
  ),
  AUTH_VERIFICATION_TOKEN_HOURS: variable('24', integer(1, 168), 'Life of a verification link, 1..168'),
  AUTH_RESET_TOKEN_MINUTES: variable('60', integer(5, 1440), 'Life of a reset link, 5..1440'),
  AUTH_INVITATION_DAYS: variable('7', integer(1, 90), 'Life of an invitation, 1..90'),
  AUTH_SESSION_IDLE_DAYS: variable(
    '30',
    integer(1, 365),
    'Days after which a session without refresh ends, 1..365',
  ),
  AUTH_MAX_SESSIONS_PER_USER: variable(
    '50',
    integer(1, 1000),
    'Maximum number of sessions of a user, 1..1000; a further one ends the least recently used',
  ),
  SSO_IDLE_HOURS: variable(
    '12',
    integer(1, 720),
    "Hours without a sign-in to an app after which the browser's sign-in expires, and life of a session of the account pages, 1..720",
  ),
  SSO_MAX_DAYS: variable(
    '7',
    integer(1, 365),
    "Days after which the browser's sign-in expires in any case, 1..365",
  ),
  SSO_MFA_HOURS: variable(
    '12',
    integer(0, 720),
    "Hours for which the second factor of the browser's sign-in counts, 0..720; then the next app asks for it again",
  ),
  OIDC_DYNAMIC_REGISTRATION: variable(
    'false',
    flag,
    'true: clients may register themselves (RFC 7591) in projects that allow it',
  ),
  AUTH_LOCKOUT_MAX_FAILURES: variable(
    '10',
    integer(1, 100),
    'Failed sign-ins per account and network until the lock-out, 1..100',
  ),
  AUTH_LOCKOUT_WINDOW_MINUTES: variable(
    '15',
    integer(1, 1440),
    'Window of that count, and duration of the lock-out, 1..1440',
  ),
  AUTH_MFA_ISSUER: variable('Doorward', text(1, 64), 'Name shown in authenticator apps, 1..64 characters'),
  WEBAUTHN_RP_ID: optional(
    rpId,
    'Domain that passkeys belong to: the host of APP_URL or a parent of it. A change makes all passkeys useless',
    'host of APP_URL',
  ),
  SECURITY_STEP_UP_MAX_AGE_MINUTES: variable(
    '15',
    integer(0, 1440),
    'Age up to which a sign-in counts as recent for sensitive operations, 0..1440; 0 = off',
  ),
  OPERATORS: optional(
    listOf(address),
    'Operators of the installation, comma-separated: a user with one of these as verified e-mail address is one',
  ),
  OPERATORS_ALLOWED_CIDRS: optional(
    listOf(cidr),
    'Networks from which operators may act, comma-separated CIDRs; unset = any',
  ),
  ORGANIZATIONS_MAX_PER_ACCOUNT: variable(
    '1000',
    integer(1, 1_000_000),
    'Maximum number of organizations of an account, 1..1000000',
  ),
  PROJECT_GRANTS_MAX: variable(
    '10000',
    integer(1, 100_000),
    'Maximum number of live grants and pending offers of a project, 1..100000',
  ),
  GITHUB_CLIENT_ID: optional(text(1, 255), 'GitHub sign-in; requires GITHUB_CLIENT_SECRET'),
  GITHUB_CLIENT_SECRET: optional(text(1, 1024), 'GitHub sign-in; requires GITHUB_CLIENT_ID'),
  GITHUB_WEB_URL: variable(
    'https://github.com',
    baseUrl,
    'Base URL of the authorize and token endpoints of GitHub',
  ),
  GITHUB_API_URL: variable('https://api.github.com', baseUrl, 'Base URL of the API of GitHub'),
  IDENTITY_PROVIDERS: optional(
    identityProviders,
    'OpenID Connect providers, a JSON array (docs/operating/identity-providers.md)',
  ),
  IDENTITY_PROVIDERS_FILE: optional(identityProvidersFile, 'The same as a file'),
  FEDERATION_ALLOWED_PRIVATE_CIDRS: optional(
    listOf(cidr),
    'Private networks in which the providers of IDENTITY_PROVIDERS may be, comma-separated CIDRs',
  ),
  CONNECTIONS_ALLOWED_PRIVATE_CIDRS: optional(
    listOf(cidr),
    'Private networks in which identity providers of organizations may be, comma-separated CIDRs; their owners choose the addresses',
  ),

  DNS_RESOLVERS: optional(
    listOf(ipAddress),
    'Name servers that are asked for the records of domains, comma-separated addresses; unset = those of the system',
  ),

  // Edge
  SECURITY_FRONTEND_URL: optional(
    baseUrl,
    'Target of mail links and default redirects; its origin is allowed',
  ),
  SECURITY_ADDITIONAL_ORIGINS: optional(listOf(origin), 'Further allowed origins, comma-separated'),
  SECURITY_TRUSTED_PROXIES: optional(
    listOf(cidr),
    'Proxies whose X-Forwarded-For is trusted, comma-separated CIDRs',
  ),
  SECURITY_ALLOWED_HOSTS: optional(listOf(host), 'Accepted Host headers, comma-separated; unset = any'),
  SECURITY_HSTS_SECONDS: variable('31536000', integer(0, 63_072_000), 'HSTS, https only, 0..63072000'),
  GRAPHQL_INTROSPECTION: optional(flag, 'Schema introspection', devOnly),
  GRAPHQL_EXPLORER: optional(flag, 'Browser explorer at /graphql', devOnly),
  GRAPHQL_MAX_DEPTH: variable('8', integer(4, 20), 'Maximum depth of a query, 4..20'),
  GRAPHQL_MAX_ALIASES: variable('15', integer(1, 100), 'Maximum number of aliases in a query, 1..100'),
  GRAPHQL_MAX_COST: variable('10000', integer(100, 100_000), 'Maximum cost of a query, 100..100000'),
  GRAPHQL_MAX_BATCH: variable('10', integer(1, 50), 'Maximum number of queries in one request, 1..50'),
  API_DOCS_ENABLED: variable(
    'true',
    flag,
    'Serve the documentation at /api-docs, and at /docs if built; /api-docs.json is always served',
  ),
  CONSOLE_ENABLED: variable('true', flag, 'Serve the admin console at /console'),
  METRICS_ENABLED: optional(flag, 'Serve Prometheus metrics at /metrics', devOnly),
  METRICS_TOKEN: optional(text(1, 1024), 'Bearer token for /metrics'),

  // Overload
  OVERLOAD_MAX_WAIT_MS: variable(
    '5000',
    integer(100, 60_000),
    'Maximum wait of a request behind a thousand others, then 503; 100..60000',
  ),
  OVERLOAD_MAX_QUEUE: variable(
    '10000',
    integer(10, 1_000_000),
    'Maximum number of requests that wait in a queue, then 503; 10..1000000',
  ),

  // Rate limits (they do not affect the lock-out after failed sign-ins)
  SECURITY_RATE_LIMIT_ENABLED: variable('true', flag, 'Switches the classes below on or off'),
  SECURITY_RATE_LIMIT_GENERAL_MAX: requestsPerWindow('1000', 'Requests without a class of their own'),
  SECURITY_RATE_LIMIT_GENERAL_WINDOW_SECONDS: windowSeconds('60'),
  SECURITY_RATE_LIMIT_AUTH_MAX: requestsPerWindow('20', 'Sign-in and registration'),
  SECURITY_RATE_LIMIT_AUTH_WINDOW_SECONDS: windowSeconds('900'),
  SECURITY_RATE_LIMIT_REFRESH_MAX: requestsPerWindow('60', 'Refresh of sessions'),
  SECURITY_RATE_LIMIT_REFRESH_WINDOW_SECONDS: windowSeconds('60'),
  SECURITY_RATE_LIMIT_EXCHANGE_MAX: requestsPerWindow('600', 'API key exchange'),
  SECURITY_RATE_LIMIT_EXCHANGE_WINDOW_SECONDS: windowSeconds('60'),
  SECURITY_RATE_LIMIT_CHECK_MAX: requestsPerWindow('60000', 'Access checks'),
  SECURITY_RATE_LIMIT_CHECK_WINDOW_SECONDS: windowSeconds('60'),
  SECURITY_RATE_LIMIT_MAIL_MAX: requestsPerWindow('5', 'Requests that send mail'),
  SECURITY_RATE_LIMIT_MAIL_WINDOW_SECONDS: windowSeconds('3600'),
  SECURITY_RATE_LIMIT_EXPORT_MAX: requestsPerWindow('5', 'Exports'),
  SECURITY_RATE_LIMIT_EXPORT_WINDOW_SECONDS: windowSeconds('3600'),

  // Mail, webhooks, retention
  MAIL_PROVIDER: variable(
    'console',
    oneOf('console', 'smtp', 'file'),
    'console, smtp, or file (one file per mail, for tests)',
  ),
  MAIL_CONSOLE_IN_PRODUCTION: variable(
    'false',
    flag,
    'Allow MAIL_PROVIDER=console in production, which logs mails with their one-time links',
  ),
  MAIL_APP_TEXTS: variable(
    'true',
    flag,
    'Let apps set a sender name, subjects and texts of their mails and pages; false where strangers can create projects',
  ),
  MAIL_FROM: variable('Doorward <no-reply@localhost>', mailbox, 'Sender of mails'),
  MAIL_FILE_DIR: optional(text(), 'Directory of MAIL_PROVIDER=file', '<DATA_DIR>/mail'),
  SMTP_URL: optional(urlWith('smtp:', 'smtps:'), 'smtp(s)://user:pass@host:port; required for smtp'),
  WEBHOOKS_TIMEOUT_MS: variable('15000', integer(1000, 30_000), 'Timeout of a delivery attempt, 1000..30000'),
  WEBHOOKS_RETRY_SCHEDULE_SECONDS: variable(
    '5,300,1800,7200,18000,36000,50400,72000,86400',
    schedule,
    'Delays between attempts, up to 20; none = one attempt only',
  ),
  WEBHOOKS_ALLOW_HTTP: variable('false', flag, 'Allows http targets; refused in production'),
  WEBHOOKS_ALLOWED_PRIVATE_CIDRS: optional(
    listOf(cidr),
    'Private networks that webhooks may reach, comma-separated CIDRs',
  ),
  WEBHOOKS_MAX_PER_PROJECT: variable(
    '50',
    integer(1, 1000),
    'Maximum number of subscriptions of a project, 1..1000',
  ),
  EVENTS_RETENTION_DAYS: variable(
    '30',
    integer(1, 365),
    'Retention of the event feed and of pending deliveries, 1..365',
  ),
  AUDIT_RETENTION_DAYS: variable(
    '0',
    zeroOrInteger(30, 3650),
    'Retention of audit entries, 30..3650; 0 = forever',
  ),
  PRIVACY_DELETION_RETENTION_DAYS: variable(
    '30',
    integer(0, 365),
    'Days after which deleted data is purged, 0..365',
  ),
  JOBS_ENABLED: variable(
    'true',
    flag,
    'Run deliveries, expiry notices, purge and key rotation in this process',
  ),
} as const satisfies Record<string, Fixed<unknown> | Optional<unknown>>;

/** Name of a declared environment variable. */
export type VariableName = keyof typeof declarations;

/** Parsed values by name; `undefined` if the variable is unset and has no fixed default. */
export type Values = {
  readonly [N in VariableName]: (typeof declarations)[N] extends Fixed<infer T>
    ? T
    : (typeof declarations)[N] extends Optional<infer T>
      ? T | undefined
      : never;
};
