/**
 * An app whose users sign in with Doorward: one page with one button. It is configured with the issuer only, and reads the
 * endpoints from its metadata (RFC 8414). It needs Node and openid-client.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import * as oauth from 'openid-client';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PERMISSION = 'invoice:read', PORT = '3000' } = process.env;
if (!ISSUER || !CLIENT_ID) throw new Error('Set ISSUER and CLIENT_ID (README.md says where they come from).');

// Plain http is for trying it out on one computer.
const isLocal = new URL(ISSUER).protocol === 'http:';
const config = await oauth.discovery(
  new URL(ISSUER),
  CLIENT_ID,
  undefined,
  CLIENT_SECRET ? oauth.ClientSecretBasic(CLIENT_SECRET) : oauth.None(),
  { algorithm: 'oauth2', execute: isLocal ? [oauth.allowInsecureRequests] : [] },
);

/** By the cookie of the browser: a sign-in in progress, or the user. A real app stores sessions in its database. */
const sessions = new Map();

const routes = {
  'GET /': home,
  'POST /sign-in': signIn,
  'GET /callback': callback,
  'POST /sign-out': signOut,
};

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, origin());
  const route = routes[`${request.method} ${pathname}`];
  if (!route) return void response.writeHead(404).end();
  route(request, response).catch((error) => {
    console.error(error);
    page(response, 'That did not work', '<p>Please try again.</p>', 502);
  });
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`The app is at ${origin()}`));

const origin = () => `http://127.0.0.1:${server.address().port}`;
const cookieOf = ({ headers }) => /(?:^|; )app_session=([\w-]+)/.exec(headers.cookie ?? '')?.[1];

function begin(response, session) {
  const id = randomBytes(32).toString('base64url');
  sessions.set(id, session);
  response.setHeader('set-cookie', `app_session=${id}; HttpOnly; SameSite=Lax; Path=/`);
}

async function home(request, response) {
  const { user, allowed, notice } = sessions.get(cookieOf(request)) ?? {};
  if (!user) {
    const status = notice ? `<p role="status">${escape(notice)}</p>` : '';
    return page(response, 'Boards', `${status}${button('/sign-in', 'Sign in with Doorward')}`);
  }
  page(
    response,
    'Boards',
    `<p>You are <strong>${escape(user.name)}</strong>${user.email ? ` (${escape(user.email)})` : ''}.</p>
     <p id="answer">${escape(PERMISSION)}: ${allowed ? 'allowed' : 'not allowed'}</p>
     ${button('/sign-out', 'Sign out')}`,
  );
}

/** Sends the browser to Doorward. The callback must match the state and the verifier in the session. */
async function signIn(_request, response) {
  const verifier = oauth.randomPKCECodeVerifier();
  const state = oauth.randomState();
  begin(response, { verifier, state });
  const address = oauth.buildAuthorizationUrl(config, {
    redirect_uri: `${origin()}/callback`,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  });
  response.writeHead(303, { location: address.href }).end();
}

/** Handles the redirect from Doorward, with a code or an error. */
async function callback(request, response) {
  const pending = sessions.get(cookieOf(request));
  sessions.delete(cookieOf(request));
  const leave = () => response.writeHead(303, { location: '/' }).end();
  if (!pending?.verifier) return leave();
  let tokens;
  try {
    tokens = await oauth.authorizationCodeGrant(config, new URL(request.url, origin()), {
      pkceCodeVerifier: pending.verifier,
      expectedState: pending.state,
    });
  } catch (error) {
    if (!(error instanceof oauth.AuthorizationResponseError)) throw error;
    begin(response, { notice: 'You did not sign in.' });
    return leave();
  }
  const user = await oauth.fetchUserInfo(config, tokens.access_token, oauth.skipSubjectCheck);
  // A new session id prevents session fixation.
  begin(response, {
    user,
    allowed: await isAllowed(tokens.access_token),
    refreshToken: tokens.refresh_token,
  });
  leave();
}

/** Checks whether the user may do something. The token identifies the user and the project. */
async function isAllowed(token) {
  const [resource, action] = PERMISSION.split(':');
  const response = await fetch(new URL('/api/auth/is-authorized', ISSUER), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ permission: { resource, action } }),
  });
  const { success, data } = await response.json();
  return success && data.authorized;
}

async function signOut(request, response) {
  const { refreshToken } = sessions.get(cookieOf(request)) ?? {};
  sessions.delete(cookieOf(request));
  if (refreshToken) await oauth.tokenRevocation(config, refreshToken);
  response.writeHead(303, { location: '/' }).end();
}

const escape = (text) => String(text).replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
const button = (action, text) => `<form method="post" action="${action}"><button>${text}</button></form>`;

function page(response, title, body, status = 200) {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    // No `form-action`, because browsers apply it to redirects too, which go to Doorward and on to other sites.
    'content-security-policy': "default-src 'none'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
  });
  response.end(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" href="data:,">
  </head>
  <body><main><h1>${title}</h1>${body}</main></body>
</html>`);
}
