import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig, unreadVariables, variables } from './config.ts';

const key = Buffer.alloc(32, 7).toString('base64');
const production = {
  NODE_ENV: 'production',
  APP_URL: 'https://auth.example.com',
  ENCRYPTION_KEY: key,
  MAIL_PROVIDER: 'file',
};

/** Returns the problems of an environment; empty if it loads. */
function problemsOf(env: Record<string, string | undefined>): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('the example file', () => {
  // `npx vitest run -u packages/server/src/config/config.test.ts` writes it after a change of the declarations.
  it('names every variable with its default and meaning, and nothing else', async () => {
    const entries = variables.map(
      ({ name, initial, default: words, meaning }) =>
        `# ${meaning}${initial === '' ? ` (default: ${words})` : ''}.\n#${name}=${initial}\n`,
    );
    const head = '# Every variable of Doorward with its default. Empty = unset. Read once, at start.\n';
    await expect([head, ...entries].join('\n')).toMatchFileSnapshot(
      join(import.meta.dirname, '../../../../.env.example'),
    );
  });
});

it('names variables that are set and not read: nearly ours, and all of overload', () => {
  const env = {
    OVERLOAD_DELAY_MS: '40',
    OVERLOAD_MAX_WAIT_MS: '5000',
    AUTH_PASSWORD_MINLENGTH: '8',
    DATABASE_URI: 'postgres://x',
    DATABASE_PORT: '5432',
    NODE_EXTRA_CA_CERTS: '/x',
    DATABASE_URL: '',
    DATABSE_URL: 'of a prefix that is none of ours',
    LOGLEVEL: 'debug',
    ENCRYPTON_KEY: 'x',
    POST: 'x',
    HOSTS: 'x',
    LANGUAGE: 'en',
    PATH: '/bin',
  };
  expect(unreadVariables(env)).toEqual([
    'OVERLOAD_DELAY_MS is not a variable of this version, and is not read. Remove it.',
    'AUTH_PASSWORD_MINLENGTH is not read. Set AUTH_PASSWORD_MIN_LENGTH if you mean that one, and remove AUTH_PASSWORD_MINLENGTH.',
    'DATABASE_URI is not read. Set DATABASE_URL if you mean that one, and remove DATABASE_URI.',
    'DATABSE_URL is not read. Set DATABASE_URL if you mean that one, and remove DATABSE_URL.',
    'LOGLEVEL is not read. Set LOG_LEVEL if you mean that one, and remove LOGLEVEL.',
    'ENCRYPTON_KEY is not read. Set ENCRYPTION_KEY if you mean that one, and remove ENCRYPTON_KEY.',
  ]);
  expect(problemsOf(env)).toEqual([]);
});

it.each(['DATABSE_URL', 'DATABASE_URI', 'DATABASEURL', 'DTABASE_URL'])(
  'does not start the embedded database in place of that of %s',
  (name) => {
    expect(problemsOf({ [name]: 'postgres://x' })).toEqual([
      `${name} is set but DATABASE_URL is not: rename it, or set DATABASE_URL= (empty) to use the embedded database.`,
    ]);
    expect(problemsOf({ [name]: 'postgres://x', DATABASE_URL: '' })).toEqual([]);
    expect(problemsOf({ [name]: 'postgres://x', DATABASE_URL: 'postgres://y' })).toEqual([]);
  },
);

describe('defaults', () => {
  it('need nothing outside production', () => {
    const config = loadConfig({});
    expect(config).toMatchObject({
      environment: 'development',
      production: false,
      mode: 'embedded',
      appUrl: 'http://localhost:4000',
      dataDir: './data',
      http: { host: '0.0.0.0', port: 4000 },
      tokens: { accessTokenMinutes: 15, refreshTokenDays: 30, rsaBits: 2048 },
      graphql: { introspection: true, explorer: true },
      metrics: { enabled: true, token: undefined },
      github: { client: undefined },
      security: { https: false, origins: ['http://localhost:4000'], hstsSeconds: 0 },
      mail: { provider: 'console', fileDir: join('data', 'mail') },
      log: { level: 'info', pretty: true },
    });
    expect(config.rateLimits.classes.check).toEqual({ max: 60_000, windowSeconds: 60 });
    expect(config.webhooks.retryScheduleSeconds).toHaveLength(9);
  });

  it('close the development doors in production', () => {
    expect(loadConfig(production)).toMatchObject({
      production: true,
      graphql: { introspection: false, explorer: false },
      metrics: { enabled: false },
      log: { pretty: false },
      security: { https: true, hstsSeconds: 31_536_000 },
    });
  });

  it('hold for empty and blank variables', () => {
    const empty = Object.fromEntries(variables.map(({ name }) => [name, ' ']));
    expect(loadConfig(empty)).toEqual(loadConfig({}));
  });

  it('follow PORT and DATA_DIR', () => {
    const config = loadConfig({ PORT: '4711', DATA_DIR: '/var/lib/doorward' });
    expect(config.appUrl).toBe('http://localhost:4711');
    expect(config.mail.fileDir).toBe('/var/lib/doorward/mail');
  });
});

describe('the object', () => {
  it('is frozen to the bottom', () => {
    const unfrozen = (value: unknown): boolean =>
      typeof value === 'object' &&
      value !== null &&
      (!Object.isFrozen(value) || Object.values(value).some(unfrozen));
    expect(unfrozen(loadConfig(production))).toBe(false);
  });

  it('normalises URLs, origins, networks and hosts', () => {
    const { appUrl, security, mode } = loadConfig({
      APP_URL: 'https://Auth.example.com:443/base//',
      DATABASE_URL: 'postgres://u:p@db/doorward',
      SECURITY_FRONTEND_URL: 'https://app.example.com/ui/',
      SECURITY_ADDITIONAL_ORIGINS: 'https://app.example.com, http://localhost:5173/ ,',
      SECURITY_TRUSTED_PROXIES: '10.0.0.0/8,::1',
      SECURITY_ALLOWED_HOSTS: 'Auth.Example.com,[::1]:4000',
    });
    expect(mode).toBe('postgres');
    expect(appUrl).toBe('https://auth.example.com/base');
    expect(security).toMatchObject({
      frontendUrl: 'https://app.example.com/ui',
      origins: ['https://auth.example.com', 'https://app.example.com', 'http://localhost:5173'],
      trustedProxies: ['10.0.0.0/8', '::1/128'],
      allowedHosts: ['auth.example.com', '[::1]:4000'],
    });
  });

  it('takes an empty webhook schedule as none', () => {
    const schedule = (text: string) =>
      loadConfig({ WEBHOOKS_RETRY_SCHEDULE_SECONDS: text }).webhooks.retryScheduleSeconds;
    expect(schedule('none')).toEqual([]);
    expect(schedule('1, 0.5')).toEqual([1, 0.5]);
  });
});

describe('bad values', () => {
  // Name, minimum, maximum. One less and one more are refused with a message that starts with the name.
  it.each([
    ['PORT', 0, 65_535],
    ['DATABASE_POOL_MAX', 1, 200],
    ['DATABASE_ACQUIRE_TIMEOUT_MS', 100, 60_000],
    ['DATABASE_STATEMENT_TIMEOUT_MS', 100, 60_000],
    ['SHUTDOWN_GRACE_SECONDS', 0, 120],
    ['BODY_LIMIT_BYTES', 16_384, 10_485_760],
    ['JWT_ACCESS_TOKEN_EXPIRATION_MINUTES', 1, 60],
    ['JWT_REFRESH_TOKEN_EXPIRATION_DAYS', 1, 365],
    ['JWT_JWKS_MAX_AGE_SECONDS', 10, 3600],
    ['JWT_SYSTEM_KEY_ROTATION_DAYS', 0, 365],
    ['AUTH_PASSWORD_MIN_LENGTH', 8, 64],
    ['AUTH_VERIFICATION_GRACE_DAYS', 0, 90],
    ['AUTH_VERIFICATION_TOKEN_HOURS', 1, 168],
    ['AUTH_RESET_TOKEN_MINUTES', 5, 1440],
    ['AUTH_INVITATION_DAYS', 1, 90],
    ['AUTH_SESSION_IDLE_DAYS', 1, 365],
    ['AUTH_MAX_SESSIONS_PER_USER', 1, 1000],
    ['AUTH_LOCKOUT_MAX_FAILURES', 1, 100],
    ['AUTH_LOCKOUT_WINDOW_MINUTES', 1, 1440],
    ['SECURITY_STEP_UP_MAX_AGE_MINUTES', 0, 1440],
    ['SECURITY_HSTS_SECONDS', 0, 63_072_000],
    ['GRAPHQL_MAX_DEPTH', 4, 20],
    ['GRAPHQL_MAX_ALIASES', 1, 100],
    ['GRAPHQL_MAX_COST', 100, 100_000],
    ['GRAPHQL_MAX_BATCH', 1, 50],
    ['SECURITY_RATE_LIMIT_MAIL_MAX', 1, 10_000_000],
    ['SECURITY_RATE_LIMIT_MAIL_WINDOW_SECONDS', 1, 86_400],
    ['WEBHOOKS_TIMEOUT_MS', 1000, 30_000],
    ['WEBHOOKS_MAX_PER_PROJECT', 1, 1000],
    ['EVENTS_RETENTION_DAYS', 1, 365],
    ['AUDIT_RETENTION_DAYS', 30, 3650],
    ['PRIVACY_DELETION_RETENTION_DAYS', 0, 365],
  ])('%s is held within %d..%d', (name, low, high) => {
    const problems = (value: number) => problemsOf({ [name]: String(value) });
    expect(problems(low)).toEqual([]);
    expect(problems(high)).toEqual([]);
    for (const outside of [low - 1, high + 1]) {
      expect(problems(outside)).toEqual([expect.stringMatching(new RegExp(`^${name} must be .*${high}`))]);
    }
  });

  it.each([
    ['NODE_ENV', 'staging'],
    ['PORT', '4e3'],
    ['PORT', '80 '.repeat(2)],
    ['APP_URL', 'ftp://example.com'],
    ['APP_URL', 'https://u:p@example.com'],
    ['APP_URL', 'https://example.com/?a=1'],
    ['DATABASE_URL', 'mysql://db'],
    ['REDIS_URL', 'localhost:6379'],
    ['ENCRYPTION_KEY', Buffer.alloc(31).toString('base64')],
    ['ENCRYPTION_KEY', 'hunter2'],
    ['ENCRYPTION_KEYS_OLD', `${key},short`],
    ['LOG_LEVEL', 'trace'],
    ['MIGRATE_ON_START', 'yes'],
    ['JWT_RSA_BITS', '1024'],
    ['AUTH_REGISTRATION_MODE', 'open'],
    ['AUTH_MFA_ISSUER', 'x'.repeat(65)],
    ['SECURITY_ADDITIONAL_ORIGINS', '*'],
    ['SECURITY_ADDITIONAL_ORIGINS', 'https://a.example/path'],
    ['SECURITY_TRUSTED_PROXIES', '10.0.0.0/33'],
    ['SECURITY_TRUSTED_PROXIES', 'localhost'],
    ['SECURITY_ALLOWED_HOSTS', 'https://a.example'],
    ['MAIL_PROVIDER', 'sendmail'],
    ['MAIL_FROM', 'a@b\nBcc: c@d'],
    ['MAIL_PROVIDER', 'smtp'],
    ['SMTP_URL', 'http://mail'],
    ['WEBHOOKS_RETRY_SCHEDULE_SECONDS', '5,soon'],
    ['WEBHOOKS_RETRY_SCHEDULE_SECONDS', Array(21).fill('1').join(',')],
    ['AUDIT_RETENTION_DAYS', '29'],
    ['GITHUB_CLIENT_ID', 'only-the-id'],
  ])('%s=%s is refused', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringContaining(name)]);
  });

  it('are told all at once and never shown', () => {
    const secret = 'postgre://user:hunter2@db';
    const env = {
      DATABASE_URL: secret,
      ENCRYPTION_KEY: 'hunter2',
      PORT: 'hunter2',
      METRICS_TOKEN: 'hunter2\n\t2',
    };
    expect(problemsOf(env).map((problem) => problem.split(' ')[0])).toEqual([
      'PORT',
      'DATABASE_URL',
      'ENCRYPTION_KEY',
      'METRICS_TOKEN',
    ]);
    expect(() => loadConfig(env)).toThrow(/^(?![^]*hunter2)/);
  });
});

describe('the domain of passkeys', () => {
  const at = (host: string, rpId?: string) => ({
    APP_URL: `https://${host}`,
    ...(rpId === undefined ? {} : { WEBAUTHN_RP_ID: rpId }),
  });

  it('is the host of APP_URL, or a parent of it', () => {
    expect(loadConfig({}).passkeys).toEqual({ rpId: 'localhost', origins: ['http://localhost:4000'] });
    expect(loadConfig(at('auth.example.com')).passkeys.rpId).toBe('auth.example.com');
    expect(loadConfig(at('auth.example.com', 'Example.com')).passkeys.rpId).toBe('example.com');
    expect(loadConfig({ WEBAUTHN_RP_ID: 'localhost' }).passkeys.rpId).toBe('localhost');
  });

  it('takes passkeys from the allowed origins in it, and from no other', () => {
    const others =
      'https://app.example.com:8443,https://example.com,https://notexample.com,https://example.org';
    const env = { ...at('auth.example.com', 'example.com'), SECURITY_ADDITIONAL_ORIGINS: others };
    expect(loadConfig(env).passkeys.origins).toEqual([
      'https://auth.example.com',
      'https://app.example.com:8443',
      'https://example.com',
    ]);
  });

  it.each([
    ['auth.example.com', 'example.org'],
    ['auth.example.com', 'ample.com'],
    ['auth.example.com', 'login.auth.example.com'],
    ['auth.example.com', 'com'],
    ['auth.example.co.uk', 'co.uk'],
    ['me.github.io', 'github.io'],
    ['auth.corp.internal', 'internal'],
    ['127.0.0.1', '0.0.1'],
    ['auth.example.com', 'https://example.com'],
    ['auth.example.com', 'example.com:443'],
  ])('of %s is not %s', (host, rpId) => {
    expect(problemsOf(at(host, rpId))).toEqual([expect.stringContaining('WEBAUTHN_RP_ID')]);
  });

  it('is not checked against an APP_URL that is refused', () => {
    const problems = problemsOf({ APP_URL: 'ftp://example.com', WEBAUTHN_RP_ID: 'example.com' });
    expect(problems).toEqual([expect.stringContaining('APP_URL must')]);
  });
});

describe('production', () => {
  it('requires the public URL and the key', () => {
    expect(problemsOf({ NODE_ENV: 'production' })).toEqual([
      expect.stringContaining('APP_URL is required'),
      expect.stringContaining('ENCRYPTION_KEY is required'),
      expect.stringContaining('MAIL_PROVIDER=console is refused'),
    ]);
  });

  it('prints mails only where that is asked for', () => {
    const printing = { ...production, MAIL_PROVIDER: 'console' };
    expect(problemsOf(printing)).toEqual([expect.stringContaining('MAIL_CONSOLE_IN_PRODUCTION=true')]);
    const accepted = { ...printing, MAIL_CONSOLE_IN_PRODUCTION: 'true' };
    expect(loadConfig(accepted).mail.provider).toBe('console');
  });

  it('requires https unless http is allowed explicitly', () => {
    const http = { ...production, APP_URL: 'http://auth.internal' };
    expect(problemsOf(http)).toEqual([expect.stringContaining('APP_URL_ALLOW_HTTP')]);
    expect(loadConfig({ ...http, APP_URL_ALLOW_HTTP: 'true' }).security.https).toBe(false);
  });

  it.each(['GITHUB_WEB_URL', 'GITHUB_API_URL'])(
    'sends secrets over http to this machine only: %s',
    (name) => {
      for (const host of [
        'ghe.internal',
        'localhost.evil.example',
        '127.0.0.1.evil.example',
        '10.0.0.1:8080',
      ]) {
        expect(problemsOf({ ...production, [name]: `http://${host}` })).toEqual([
          expect.stringContaining(name),
        ]);
        expect(problemsOf({ [name]: `http://${host}` })).toEqual([]);
      }
      for (const url of ['https://ghe.internal/api/v3', 'http://127.0.0.1:4010', 'http://[::1]:4010/x']) {
        expect(problemsOf({ ...production, [name]: url })).toEqual([]);
      }
    },
  );

  it.each(['WEBHOOKS_ALLOW_HTTP', 'DEV_SEED'])('refuses %s', (name) => {
    expect(problemsOf({ ...production, [name]: 'true' })).toEqual([expect.stringContaining(name)]);
    expect(problemsOf({ [name]: 'true' })).toEqual([]);
  });
});
