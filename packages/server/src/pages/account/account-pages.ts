import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DoorwardError, fail, type Detail } from '../../errors.ts';
import { html, type Html } from '../../html/html.ts';
import type { AccountCaller, AccountCalls } from '../../http/account/account-calls.ts';
import { acceptFiles } from '../../http/body/files.ts';
import { languageOf } from '../../http/send-error.ts';
import { translateCode, translateDetail } from '../../i18n/translate.ts';
import type { Language } from '../../languages.ts';
import { pagePolicy, setPageHeaders, serveScript } from '../page.ts';
import { methodTexts } from '../sign-in/methods/method-texts.ts';
import {
  accountDocument,
  FieldProblem,
  pathOf,
  type AccountPage,
  type Form,
  type Problem,
  type View,
} from './account-page.ts';
import { accountTexts } from './account-texts.ts';
import {
  confirmationBody,
  confirmationScript,
  namedPath,
  proofIn,
  proofsOf,
  sectionOf,
  type Refused,
} from './confirmation.ts';
import { appsPage } from './apps.ts';
import { dataPage } from './data.ts';
import { notificationsPage } from './notifications.ts';
import { passkeysPage } from './security/passkeys.ts';
import { passwordPage } from './security/password.ts';
import { providersPage } from './security/providers.ts';
import { secondFactorPage } from './security/second-factor.ts';
import { profilePage } from './profile.ts';
import { sessionsPage } from './sessions.ts';

const pages: readonly AccountPage[] = [
  profilePage,
  passwordPage,
  passkeysPage,
  secondFactorPage,
  sessionsPage,
  providersPage,
  appsPage,
  notificationsPage,
  dataPage,
];

interface Options {
  readonly account: AccountCalls;
  readonly passwordMinLength: number;
}

/** The texts that a form sent. Other values, such as files, are left out. */
const fieldsOf = ({ body }: FastifyRequest): Form =>
  Object.fromEntries(
    Object.entries(body ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

const errorIn = ({ query }: FastifyRequest): string | undefined => {
  const { error } = query as { readonly error?: unknown };
  return typeof error === 'string' ? error : undefined;
};

const asksProof = (error: unknown): boolean =>
  error instanceof DoorwardError && ['STEP_UP_REQUIRED', 'MFA_REQUIRED'].includes(error.code);

/** The page to return to after a sign-in; for a form without a page of its own, the first page. */
const pageAt = (path: string | undefined): string =>
  pages.map(({ section }) => pathOf(section)).find((each) => each === path) ?? '/account';

const confirmPath = '/account/confirm';

/** Enough for a picture of 2 MiB and the other fields of its form. */
const BODY_LIMIT_BYTES = 2 * 1024 * 1024 + 16 * 1024;

/**
 * Serves the account pages, where people see and change their own data without an app or a console. Every form calls an
 * operation, with its guards, limits and records; the pages only translate.
 */
export function registerAccountPages(app: FastifyInstance, options: Options): void {
  void app.register(async (scope) => {
    acceptFiles(scope, BODY_LIMIT_BYTES);
    // Redirects people who are not signed in before the body is read.
    scope.addHook('onRequest', async (request, reply) => {
      const isPage = request.routeOptions.config.forBrowsers === true;
      if (!isPage || (await options.account.open(request, reply))) return undefined;
      return reply.redirect(options.account.signInAddress(pageAt(request.routeOptions.url)), 303);
    });
    servePages(scope, options);
  });
}

function servePages(app: FastifyInstance, options: Options): void {
  const { account } = options;
  const config = { takesForm: true, forBrowsers: true } as const;

  /** Registers a form, which must be sent from our own page by a signed-in browser. */
  const onForm = (
    path: string,
    answer: (
      form: Form,
      caller: AccountCaller,
      request: FastifyRequest,
      reply: FastifyReply,
    ) => Promise<unknown>,
  ) =>
    app.post(path, { config }, async (request, reply) => {
      const form = fieldsOf(request);
      const caller = await account.open(request, reply);
      if (!caller) return reply.redirect(account.signInAddress(pageAt(path)), 303);
      account.assertOwnForm(request, caller, form['form_token']);
      return answer(form, caller, request, reply);
    });

  for (const page of pages) {
    const path = pathOf(page.section);
    app.get(path, { config: { forBrowsers: true } }, async (request, reply) => {
      const caller = await account.open(request, reply);
      if (!caller) return reply.redirect(account.signInAddress(path), 303);
      const isSaved = 'saved' in (request.query as object);
      return show(request, reply, { page, caller, isSaved });
    });
    onForm(path, (form, caller, request, reply) => take(request, reply, page, caller, form));
    if (page.script !== undefined) serveScript(app, `${path}.js`, page.script);
  }

  onForm('/account/sign-out', async (form, caller, _request, reply) => {
    await caller.call('logout', {});
    account.forget(reply);
    const { section } = form;
    const next = section === undefined ? '/hosted/signed-out' : account.signInAddress(namedPath(section));
    return reply.redirect(next, 303);
  });

  serveScript(app, `${confirmPath}.js`, confirmationScript);
  onForm(confirmPath, async (form, caller, request, reply) => {
    if (form['form'] === 'options') return reply.send(await caller.call('passkeyOptions', {}));
    const section = sectionOf(form['section']);
    const { proof, kind } = proofIn(form);
    try {
      await caller.call('verifyMfa', proof);
    } catch (error) {
      if (!(error instanceof DoorwardError) || error.isFault || error.status === 429) throw error;
      return confirm(request, reply, caller, { section, refused: kind });
    }
    return reply.redirect(pathOf(section), 303);
  });

  async function confirm(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: AccountCaller,
    { section, refused }: { readonly section: AccountPage['section']; readonly refused?: Refused },
  ) {
    const language = languageOf(request);
    const proofs = await proofsOf(caller);
    const body = confirmationBody(language, caller, { ...proofs, section, refused });
    const { title } = accountTexts[language].confirmation;
    const script = proofs.hasPasskey ? `${confirmPath}.js` : undefined;
    const document = accountDocument({ language, caller, section, title, body, script });
    return send(reply.status(403), language, document, { ...(script && { script }) });
  }

  async function take(
    request: FastifyRequest,
    reply: FastifyReply,
    page: AccountPage,
    caller: AccountCaller,
    form: Form,
  ) {
    const language = languageOf(request);
    const view = viewOf(language, caller);
    const name = form['form'] ?? '';
    const act = Object.hasOwn(page.forms, name) ? page.forms[name] : undefined;
    try {
      if (!act) throw fail('VALIDATION_ERROR', { details: [{ path: 'form', code: 'not_allowed' }] });
      const outcome = await act(form, view);
      if (outcome === 'saved') return await reply.redirect(`${pathOf(page.section)}?saved`, 303);
      if ('redirectTo' in outcome) return await reply.redirect(outcome.redirectTo, 303);
      if ('bare' in outcome) return await reply.headers(outcome.bare.headers).send(outcome.bare.body);
      return await show(request, reply, { page, caller, body: outcome.shown });
    } catch (error) {
      if (asksProof(error)) return confirm(request, reply, caller, page);
      const isRefusal = error instanceof FieldProblem || (error instanceof DoorwardError && !error.isFault);
      if (!isRefusal) throw error;
      // The session may have ended in the meantime.
      if (!(await account.open(request, reply))) {
        return reply.redirect(account.signInAddress(pathOf(page.section)), 303);
      }
      const problems = problemsOf(error, page, language);
      reply.status(error instanceof DoorwardError ? error.status : 400);
      if (error instanceof DoorwardError) reply.headers({ ...error.extras.headers });
      return show(request, reply, { page, caller, problems, entered: form });
    }
  }

  function problemsOf(error: FieldProblem | DoorwardError, page: AccountPage, language: Language): Problem[] {
    if (error instanceof FieldProblem) return [{ path: error.path, text: error.message }];
    const { details = [] } = error.extras;
    if (details.length === 0) return [{ path: '', text: translateCode(language, error.code, error.params) }];
    return details.map((detail) => ({ path: detail.path, text: textOf(detail, page, language) }));
  }

  function textOf({ path, code }: Detail, page: AccountPage, language: Language): string {
    if (code === 'too_short' && path === 'newPassword') {
      return methodTexts[language].tooShort.replace('{length}', String(options.passwordMinLength));
    }
    const length = page.lengths?.[path];
    return code === 'too_long' && length !== undefined
      ? accountTexts[language].atMost.replace('{length}', String(length))
      : translateDetail(language, code);
  }

  const viewOf = (
    language: Language,
    caller: AccountCaller,
    problems: readonly Problem[] = [],
    entered: Form = {},
  ): View => ({
    ...{ language, caller, problems, entered },
    passwordMinLength: options.passwordMinLength,
    addresses: account,
  });

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    shown: {
      readonly page: AccountPage;
      readonly caller: AccountCaller;
      readonly body?: Html;
      readonly isSaved?: boolean;
      readonly problems?: readonly Problem[];
      readonly entered?: Form;
    },
  ): Promise<FastifyReply> {
    const language = languageOf(request);
    const { page, caller, problems = [], entered = {} } = shown;
    const { section, script } = page;
    try {
      const body =
        shown.body ??
        (await page.body({ ...viewOf(language, caller, problems, entered), error: errorIn(request) }));
      const general = problems.filter(({ path }) => path === '').map(({ text }) => text);
      const note =
        general.length > 0
          ? html`<p role="alert" class="bad">${general.join(' ')}</p>`
          : shown.isSaved && html`<p role="status" class="good">${accountTexts[language].saved}</p>`;
      const address = script === undefined ? undefined : `${pathOf(section)}.js`;
      const shownNote = note || undefined;
      const document = accountDocument({ language, caller, section, body, note: shownNote, script: address });
      return send(reply, language, document, page);
    } catch (error) {
      if (asksProof(error)) return confirm(request, reply, caller, page);
      throw error;
    }
  }

  function send(
    reply: FastifyReply,
    language: Language,
    document: Html,
    { script, formAction = "'self'" }: Pick<AccountPage, 'script' | 'formAction'> = {},
  ): FastifyReply {
    const policy = pagePolicy({ script: script !== undefined, formAction, images: ["'self'"] });
    return setPageHeaders(reply, language, policy)
      .header('vary', 'Accept-Language, Cookie')
      .header('referrer-policy', 'same-origin')
      .send(document.toString());
  }
}
