/**
 * The configuration as one typed, deeply frozen object. `variables.ts` declares each variable; this module reads them,
 * checks conflicts between them and groups them. Names of times and sizes end with their unit. `main.ts` passes
 * `process.env`; tests pass their own environment, and so configure the service as operators do.
 *
 * @example const config = loadConfig({ NODE_ENV: 'test', PORT: '0' });
 */
import { join } from 'node:path';
import { conflicts, textOf, type Environment } from './conflicts.ts';
import { hostOf, isWithin } from './relying-party.ts';
import { InvalidValue } from './values.ts';
import { declarations } from './variables.ts';
import type { Values, VariableName } from './variables.ts';
import { nearest } from '../kernel/input/nearest.ts';

/**
 * Thrown if the configuration is not usable. It lists all problems, each with the names of its variables but without
 * their values.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration is not usable:', ...problems.map((problem) => `  - ${problem}`)].join('\n'));
    this.problems = problems;
  }
}

/** All variables, for the documentation. `initial` is the default as text; '' without a fixed default. */
export const variables: readonly {
  readonly name: VariableName;
  readonly initial: string;
  /** The default, or a description of it. */
  readonly default: string;
  readonly meaning: string;
}[] = Object.entries(declarations).map(([name, { meaning, ...rest }]) => ({
  name: name as VariableName,
  initial: rest.initial ?? '',
  default: rest.initial ?? rest.defaultText,
  meaning,
}));

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/** The configuration of one process. */
export type Config = Frozen<ReturnType<typeof toConfig>>;

/** Reads and checks the environment. @throws ConfigError that names every variable to correct */
export function loadConfig(env: Environment): Config {
  const { values, problems } = read(env);
  problems.push(...conflicts(env, values));
  if (problems.length > 0) throw new ConfigError(problems);
  return deepFreeze(toConfig(values));
}

/** Prefixes of the variables of this service, up to and including the first underscore. */
const prefixes = new Set(Object.keys(declarations).flatMap((name) => /^[A-Z]+_/.exec(name) ?? []));

/**
 * A warning for each variable that is set but not read, although it was probably meant for this service: a misspelled
 * variable, or an `OVERLOAD_*` variable of an earlier version. A variable with another prefix may belong to any
 * program, so it counts only if its name is long and one letter away from a declared name: `POST` and `HOSTS` do not
 * count.
 */
export const unreadVariables = (env: Environment): string[] =>
  Object.keys(env).flatMap((name) => {
    const [prefix = ''] = /^[A-Z]+_/.exec(name) ?? [];
    if (name in declarations) return [];
    const isOurs = prefixes.has(prefix);
    if (!isOurs && name.length < 7) return [];
    const similar = nearest(name, Object.keys(declarations), isOurs ? undefined : 1);
    if (similar !== undefined)
      return [`${name} is not read. Set ${similar} if you mean that one, and remove ${name}.`];
    return prefix === 'OVERLOAD_'
      ? [`${name} is not a variable of this version, and is not read. Remove it.`]
      : [];
  });

function read(env: Environment): { values: Values; problems: string[] } {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, { initial, parse }] of Object.entries(declarations)) {
    const source = textOf(env, name as VariableName) || initial;
    if (source === undefined) continue;
    try {
      values[name] = parse(source);
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      problems.push(`${name} ${error.message}.`);
    }
  }
  return { values: values as Values, problems };
}

function toConfig(v: Values) {
  const production = v.NODE_ENV === 'production';
  const dev = !production;
  const appUrl = v.APP_URL ?? `http://localhost:${v.PORT}`;
  const https = appUrl.startsWith('https:');
  /** Allowed origins: those of APP_URL and of the frontend, and the additional ones. */
  const origins = [
    ...new Set([
      new URL(appUrl).origin,
      ...(v.SECURITY_FRONTEND_URL === undefined ? [] : [new URL(v.SECURITY_FRONTEND_URL).origin]),
      ...(v.SECURITY_ADDITIONAL_ORIGINS ?? []),
    ]),
  ];
  const rpId = v.WEBAUTHN_RP_ID ?? hostOf(v.APP_URL);
  return {
    environment: v.NODE_ENV,
    production,
    mode: v.DATABASE_URL === undefined ? ('embedded' as const) : ('postgres' as const),
    /** Public base URL without trailing slash. Issuer, audience and links contain it. */
    appUrl,
    dataDir: v.DATA_DIR,
    devSeed: v.DEV_SEED,
    /** `undefined` means that each process counts its own rate limits. */
    redisUrl: v.REDIS_URL,
    http: {
      host: v.HOST,
      port: v.PORT,
      workers: v.WORKERS,
      bodyLimitBytes: v.BODY_LIMIT_BYTES,
      requestTimeoutSeconds: v.REQUEST_TIMEOUT_SECONDS,
      maxConnections: v.MAX_CONNECTIONS,
      shutdownGraceSeconds: v.SHUTDOWN_GRACE_SECONDS,
    },
    overload: { maxWaitMs: v.OVERLOAD_MAX_WAIT_MS, maxQueue: v.OVERLOAD_MAX_QUEUE },
    database: {
      url: v.DATABASE_URL,
      poolMax: v.DATABASE_POOL_MAX,
      acquireTimeoutMs: v.DATABASE_ACQUIRE_TIMEOUT_MS,
      statementTimeoutMs: v.DATABASE_STATEMENT_TIMEOUT_MS,
      migrateOnStart: v.MIGRATE_ON_START,
    },
    /** Base64 of 32 bytes each; `crypto/keys/kek.ts` creates the keys. */
    encryption: { key: v.ENCRYPTION_KEY, oldKeys: v.ENCRYPTION_KEYS_OLD ?? [] },
    tokens: {
      accessTokenMinutes: v.JWT_ACCESS_TOKEN_EXPIRATION_MINUTES,
      refreshTokenDays: v.JWT_REFRESH_TOKEN_EXPIRATION_DAYS,
      rsaBits: Number(v.JWT_RSA_BITS) as 2048 | 3072 | 4096,
      jwksMaxAgeSeconds: v.JWT_JWKS_MAX_AGE_SECONDS,
      /** 0 = never. */
      systemKeyRotationDays: v.JWT_SYSTEM_KEY_ROTATION_DAYS,
    },
    auth: {
      registrationMode: v.AUTH_REGISTRATION_MODE,
      passwordMinLength: v.AUTH_PASSWORD_MIN_LENGTH,
      verificationGraceDays: v.AUTH_VERIFICATION_GRACE_DAYS,
      verificationTokenHours: v.AUTH_VERIFICATION_TOKEN_HOURS,
      resetTokenMinutes: v.AUTH_RESET_TOKEN_MINUTES,
      invitationDays: v.AUTH_INVITATION_DAYS,
      sessionIdleDays: v.AUTH_SESSION_IDLE_DAYS,
      sso: { idleHours: v.SSO_IDLE_HOURS, maxDays: v.SSO_MAX_DAYS, factorHours: v.SSO_MFA_HOURS },
      dynamicRegistration: v.OIDC_DYNAMIC_REGISTRATION,
      maxSessionsPerUser: v.AUTH_MAX_SESSIONS_PER_USER,
      lockoutMaxFailures: v.AUTH_LOCKOUT_MAX_FAILURES,
      lockoutWindowMinutes: v.AUTH_LOCKOUT_WINDOW_MINUTES,
      mfaIssuer: v.AUTH_MFA_ISSUER,
      /** 0 = off. */
      stepUpMaxAgeMinutes: v.SECURITY_STEP_UP_MAX_AGE_MINUTES,
    },
    passkeys: {
      /** The domain to which passkeys belong (the RP ID of WebAuthn). */
      rpId,
      /** The allowed origins whose pages may use the passkeys. */
      origins: origins.filter((origin) => isWithin(new URL(origin).hostname, rpId)),
    },
    /** The operators of the installation, and the networks from which they may act (docs/operating/operators.md). */
    operators: {
      addresses: v.OPERATORS ?? [],
      allowedCidrs: v.OPERATORS_ALLOWED_CIDRS ?? [],
      requiresSecondFactor: production,
      acceptsFirstUser: dev,
    },
    organizations: { maxPerAccount: v.ORGANIZATIONS_MAX_PER_ACCOUNT },
    projectGrants: { maxPerProject: v.PROJECT_GRANTS_MAX },
    /** OpenID Connect providers through which users sign in. */
    identityProviders: v.IDENTITY_PROVIDERS ?? v.IDENTITY_PROVIDERS_FILE ?? [],
    /** If empty, the name servers of the system are used. */
    dns: { resolvers: v.DNS_RESOLVERS ?? [] },
    federation: { allowedPrivateCidrs: v.FEDERATION_ALLOWED_PRIVATE_CIDRS ?? [] },
    connections: { allowedPrivateCidrs: v.CONNECTIONS_ALLOWED_PRIVATE_CIDRS ?? [] },
    github: {
      /** `undefined` means that GitHub sign-in is not configured. */
      client:
        v.GITHUB_CLIENT_ID !== undefined && v.GITHUB_CLIENT_SECRET !== undefined
          ? { id: v.GITHUB_CLIENT_ID, secret: v.GITHUB_CLIENT_SECRET }
          : undefined,
      webUrl: v.GITHUB_WEB_URL,
      apiUrl: v.GITHUB_API_URL,
    },
    security: {
      /** Whether the public URL is https. If so, cookies are `Secure` with the prefix `__Host-`, and HSTS is sent. */
      https,
      /** Base URL of the frontend without trailing slash. */
      frontendUrl: v.SECURITY_FRONTEND_URL,
      origins,
      /** Networks as `address/prefix`. */
      trustedProxies: v.SECURITY_TRUSTED_PROXIES ?? [],
      /** In lower case; `undefined` allows any host. */
      allowedHosts: v.SECURITY_ALLOWED_HOSTS,
      /** 0 over http. */
      hstsSeconds: https ? v.SECURITY_HSTS_SECONDS : 0,
    },
    graphql: {
      introspection: v.GRAPHQL_INTROSPECTION ?? dev,
      explorer: v.GRAPHQL_EXPLORER ?? dev,
      limits: {
        depth: v.GRAPHQL_MAX_DEPTH,
        aliases: v.GRAPHQL_MAX_ALIASES,
        cost: v.GRAPHQL_MAX_COST,
        batch: v.GRAPHQL_MAX_BATCH,
      },
    },
    docs: { enabled: v.API_DOCS_ENABLED },
    console: { enabled: v.CONSOLE_ENABLED },
    metrics: { enabled: v.METRICS_ENABLED ?? dev, token: v.METRICS_TOKEN },
    rateLimits: {
      enabled: v.SECURITY_RATE_LIMIT_ENABLED,
      classes: {
        general: rateLimit(v, 'GENERAL'),
        auth: rateLimit(v, 'AUTH'),
        refresh: rateLimit(v, 'REFRESH'),
        exchange: rateLimit(v, 'EXCHANGE'),
        check: rateLimit(v, 'CHECK'),
        mail: rateLimit(v, 'MAIL'),
        export: rateLimit(v, 'EXPORT'),
      },
    },
    mail: {
      provider: v.MAIL_PROVIDER,
      from: v.MAIL_FROM,
      appTexts: v.MAIL_APP_TEXTS,
      fileDir: v.MAIL_FILE_DIR ?? join(v.DATA_DIR, 'mail'),
      smtpUrl: v.SMTP_URL,
    },
    webhooks: {
      timeoutMs: v.WEBHOOKS_TIMEOUT_MS,
      /** Delays between attempts: for n delays there are n + 1 attempts. */
      retryScheduleSeconds: v.WEBHOOKS_RETRY_SCHEDULE_SECONDS,
      allowHttp: v.WEBHOOKS_ALLOW_HTTP,
      allowedPrivateCidrs: v.WEBHOOKS_ALLOWED_PRIVATE_CIDRS ?? [],
      maxPerProject: v.WEBHOOKS_MAX_PER_PROJECT,
    },
    retention: {
      eventsDays: v.EVENTS_RETENTION_DAYS,
      /** 0 = forever. */
      auditDays: v.AUDIT_RETENTION_DAYS,
      deletionDays: v.PRIVACY_DELETION_RETENTION_DAYS,
    },
    jobs: { enabled: v.JOBS_ENABLED },
    log: { level: v.LOG_LEVEL, pretty: v.LOG_PRETTY ?? dev },
  };
}

type LimitClass = 'GENERAL' | 'AUTH' | 'REFRESH' | 'EXCHANGE' | 'CHECK' | 'MAIL' | 'EXPORT';

const rateLimit = (v: Values, name: LimitClass) => ({
  max: v[`SECURITY_RATE_LIMIT_${name}_MAX`],
  windowSeconds: v[`SECURITY_RATE_LIMIT_${name}_WINDOW_SECONDS`],
});

function deepFreeze<T>(value: T): Frozen<T> {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value) as Frozen<T>;
}
