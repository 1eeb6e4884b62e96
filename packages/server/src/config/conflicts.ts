import { nearest } from '../kernel/input/nearest.ts';
import { hostOf, rpIdConflict } from './relying-party.ts';
import type { Values, VariableName } from './variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the text of a variable; '' if it is not set. */
export const textOf = (env: Environment, name: VariableName): string => env[name]?.trim() ?? '';

/**
 * Checks variables that depend on each other. It checks the valid ones even if others are invalid, so that one start
 * reports every problem.
 */
export function conflicts(env: Environment, values: Values): string[] {
  const problems: string[] = [];
  const has = (name: VariableName): boolean => textOf(env, name) !== '';
  if (has('GITHUB_CLIENT_ID') !== has('GITHUB_CLIENT_SECRET')) {
    problems.push('GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET belong together: set both or none.');
  }
  if (has('IDENTITY_PROVIDERS') && has('IDENTITY_PROVIDERS_FILE')) {
    problems.push('IDENTITY_PROVIDERS and IDENTITY_PROVIDERS_FILE exclude each other: set one.');
  }
  if (values.MAIL_PROVIDER === 'smtp' && !has('SMTP_URL')) {
    problems.push('SMTP_URL is required with MAIL_PROVIDER=smtp: set it to smtp(s)://user:pass@host:port.');
  }
  // If DATABASE_URL is misspelled, an empty embedded database would start. An empty DATABASE_URL asks for that one.
  if (env['DATABASE_URL'] === undefined) {
    const misspelled = Object.keys(env).find((name) => nearest(name, ['DATABASE_URL'], 1) !== undefined);
    if (misspelled !== undefined)
      problems.push(
        `${misspelled} is set but DATABASE_URL is not: rename it, or set DATABASE_URL= (empty) to use the embedded database.`,
      );
  }
  if (values.WORKERS > 1 && !has('DATABASE_URL')) {
    problems.push('WORKERS above 1 needs DATABASE_URL: the embedded database belongs to one process.');
  }
  // An invalid APP_URL has already been reported.
  if (values.WEBAUTHN_RP_ID !== undefined && (values.APP_URL !== undefined || !has('APP_URL'))) {
    problems.push(...rpIdConflict(values.WEBAUTHN_RP_ID, hostOf(values.APP_URL)));
  }
  if (values.NODE_ENV !== 'production') return problems;
  if (!has('APP_URL')) problems.push('APP_URL is required in production: set the public https URL.');
  if (values.APP_URL?.startsWith('http:') && !values.APP_URL_ALLOW_HTTP) {
    problems.push('APP_URL must be https in production: change it, or set APP_URL_ALLOW_HTTP=true.');
  }
  if (!has('ENCRYPTION_KEY')) {
    problems.push('ENCRYPTION_KEY is required in production: make one with openssl rand -base64 32.');
  }
  if (values.WEBHOOKS_ALLOW_HTTP) {
    problems.push('WEBHOOKS_ALLOW_HTTP is refused in production: remove it and use https targets.');
  }
  for (const name of ['GITHUB_WEB_URL', 'GITHUB_API_URL'] as const) {
    // Over plain http, the client secret and tokens of users would cross the network unencrypted, except on this
    // machine.
    if (/^http:(?!\/\/(127\.0\.0\.1|\[::1\]|localhost)([:/]|$))/.test(values[name] ?? '')) {
      problems.push(`${name} must be https in production: the client secret and tokens go there.`);
    }
  }
  if (values.MAIL_PROVIDER === 'console' && !values.MAIL_CONSOLE_IN_PRODUCTION) {
    problems.push(
      'MAIL_PROVIDER=console is refused in production, where the log would contain the mails: set it to smtp, or set MAIL_CONSOLE_IN_PRODUCTION=true.',
    );
  }
  if (values.DEV_SEED) problems.push('DEV_SEED is refused in production: remove it.');
  return problems;
}
