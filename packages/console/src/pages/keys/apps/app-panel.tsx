import { useState } from 'react';
import type { components } from '@doorward/node/client';
import { targetOf } from '../../../entities/declarations/entity.ts';
import { common } from '../../../i18n/common.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import { serviceUrl } from '../../../session/session.ts';
import { Chips } from '../../../ui/chips.tsx';
import { Exact, Facts } from '../../../ui/facts.tsx';
import { isUploaded } from '../../branding/logo.ts';
import { LogoUpload } from '../../branding/logo-upload.tsx';
import { SignInPreview } from '../../branding/previews.tsx';
import { RowAction } from '../row-action.tsx';
import { appTexts } from './app-texts.ts';

type ProjectApp = components['schemas']['ProjectApp'];

/** A code challenge whose verifier isn't known: the sign-in page can be viewed, but its code can't be exchanged. */
const unknownChallenge = (): string =>
  btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Shows the details of an app that don't fit in the list, and previews its sign-in page. */
export function AppDetails({ app }: { readonly app: ProjectApp }) {
  const t = useTexts(appTexts);
  const c = useTexts(common);
  const scope = useScope();
  const rights = useRights(scope);
  const [challenge] = useState(unknownChallenge);
  const [redirectUri] = app.redirectUris;
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: app.clientId,
    redirect_uri: redirectUri ?? '',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  return (
    <>
      {app.registered && <p>{t.registeredAbout}</p>}
      <Facts
        facts={[
          [t.clientId, <Exact text={app.clientId} />],
          [t.scopes, app.scopes === null ? t.all : <Chips texts={app.scopes} />],
          [t.role, app.allowSignUp && app.signUpRole ? <bdi>{app.signUpRole.name}</bdi> : null],
          [t.firstParty, app.firstParty ? c.yes : c.no],
          [t.homepage, app.homepageUrl && <Outside address={app.homepageUrl} />],
          [t.logo, app.logoUrl && !isUploaded(app.logoUrl) && <Outside address={app.logoUrl} />],
          [t.color, app.primaryColor && <code>{app.primaryColor}</code>],
          [t.senderName, app.senderName && <bdi>{app.senderName}</bdi>],
          [
            t.texts,
            app.texts.length > 0 ? (
              <Chips texts={app.texts.map(({ purpose, language }) => `${purpose} (${language})`)} />
            ) : null,
          ],
          [
            t.logoutRedirects,
            app.postLogoutRedirectUris.length > 0 ? <Chips texts={app.postLogoutRedirectUris} /> : null,
          ],
          [t.logoutNotice, app.backchannelLogoutUri && <code>{app.backchannelLogoutUri}</code>],
          [t.origins, app.allowedOrigins.length > 0 ? <Chips texts={app.allowedOrigins} /> : null],
          [t.resources, app.resources.length > 0 ? <Chips texts={app.resources} /> : null],
          [t.profile, app.accessTokenProfile === 'rfc9068' ? t.standardProfile : t.ownProfile],
          [t.idTokenClaims, app.idTokenClaims ? c.yes : c.no],
        ]}
      />
      <SignInPreview name={app.name} colour={app.primaryColor} logoUrl={app.logoUrl} />
      {rights.can('ProjectApp:Update') && (
        <LogoUpload
          logoUrl={app.logoUrl}
          of="app"
          save={(api, file) => api.uploadProjectAppLogo({ ...targetOf(scope), id: app.id, file })}
        />
      )}
      {redirectUri !== undefined && (
        <p>
          <a
            href={`${serviceUrl}/api/auth/project/authorize?${query.toString()}`}
            target="_blank"
            rel="noopener noreferrer"
          >
            {t.openSignIn}
          </a>
          <br />
          <small>{t.openSignInHint}</small>
        </p>
      )}
    </>
  );
}

/** Shows a URL that a user has typed. It is only a link if it is https. */
function Outside({ address }: { readonly address: string }) {
  if (!address.startsWith('https://')) return <bdi>{address}</bdi>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      <bdi>{address}</bdi>
    </a>
  );
}

export function AppActions({ app }: { readonly app: ProjectApp }) {
  const t = useTexts(appTexts);
  const rights = useRights(useScope());
  if (!app.confidential || !rights.can('ProjectApp:RotateSecret')) return null;
  return (
    <RowAction
      label={t.rotate}
      name={app.name}
      about={t.rotateAbout}
      isDangerous
      save={(api, input) => api.rotateProjectAppSecret({ ...input, id: app.id })}
      secretOf={(answer) => answer.clientSecret}
    />
  );
}
