import type { CSSProperties, ReactNode } from 'react';
import {
  buttonColours,
  mailColours,
  schemes,
  type Scheme,
} from '../../../../server/src/html/brand-colours.ts';
import type { Values } from '../../entities/declarations/form-field.ts';
import { useTexts } from '../../i18n/language.ts';
import '../../styles/branding.css';
import { brandingTexts } from './branding-texts.ts';
import { colourOf } from './colour-field.ts';
import { isUploaded } from './logo.ts';

/** The branding of an app or organization. An incomplete color counts as none. */
interface Brand {
  readonly name: string;
  readonly colour: unknown;
  readonly logoUrl: string | null | undefined;
}

const schemeNames = ['light', 'dark'] as const;

/** The CSS variables of a hosted page, with the default colors or the color of the brand. */
function pageVariables(scheme: Scheme, colour: string | null): CSSProperties {
  const { ink, soft, line, card, button, buttonInk, buttonEdge } = schemes[scheme];
  const own = colour === null ? null : buttonColours(colour);
  return {
    '--of-ink': ink,
    '--of-soft': soft,
    '--of-line': line,
    '--of-card': card,
    '--of-button': own?.ground ?? button,
    '--of-button-ink': own?.ink ?? buttonInk,
    '--of-button-edge': own?.edge[scheme] ?? buttonEdge,
  } as CSSProperties;
}

/** Looks like a page, but its buttons and fields do nothing, so screen readers get an image with a label. */
const Card = ({
  label,
  variables,
  children,
}: {
  readonly label: string;
  readonly variables: CSSProperties;
  readonly children: ReactNode;
}) => (
  <div className="preview-card" role="img" aria-label={label} style={variables}>
    {children}
  </div>
);

const Previews = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <figure className="previews">
    <figcaption>{title}</figcaption>
    <div>{children}</div>
  </figure>
);

/** Previews the first sign-in page of an app, in both color schemes. */
export function SignInPreview({ name, colour, logoUrl }: Brand) {
  const t = useTexts(brandingTexts);
  const [initial = ''] = name;
  const isElsewhere = Boolean(logoUrl) && !isUploaded(logoUrl);
  const mark = isUploaded(logoUrl) ? (
    <img src={logoUrl} alt="" width={40} height={40} />
  ) : (
    <span className={isElsewhere ? 'preview-mark elsewhere' : 'preview-mark'}>
      {!isElsewhere && initial.toUpperCase()}
    </span>
  );
  return (
    <>
      <Previews title={t.signInPage}>
        {schemeNames.map((scheme) => (
          <Card
            key={scheme}
            label={`${t.signInPage}, ${t[scheme]}`}
            variables={pageVariables(scheme, colourOf(colour))}
          >
            <p className="preview-brand">
              {mark}
              <bdi>{name}</bdi>
            </p>
            <p className="preview-title">{t.signIn.replace('{name}', () => name)}</p>
            <p className="preview-label">{t.address}</p>
            <span className="preview-input" />
            <span className="preview-button">{t.next}</span>
          </Card>
        ))}
      </Previews>
      {isElsewhere && <p className="hint">{t.elsewhere}</p>}
    </>
  );
}

/** Previews the sign-in page with the values of a form. */
export const signInPreviewOf = ({ name, primaryColor, logoUrl }: Values) => (
  <SignInPreview
    name={String(name) || '…'}
    colour={primaryColor}
    logoUrl={typeof logoUrl === 'string' ? logoUrl : null}
  />
);

/** Previews an invitation by mail. Mails have no dark color scheme. */
export function InvitationPreview({ name, colour, logoUrl }: Brand) {
  const t = useTexts(brandingTexts);
  const { ground, ink, edge, title } = mailColours(colourOf(colour));
  const variables = {
    ...pageVariables('light', null),
    '--of-button': ground,
    '--of-button-ink': ink,
    '--of-button-edge': edge,
    '--of-title': title,
  } as CSSProperties;
  return (
    <Previews title={t.invitation}>
      <Card label={t.invitation} variables={variables}>
        <p className="preview-brand of-mail">
          {isUploaded(logoUrl) && <img src={logoUrl} alt="" height={32} />}
          <bdi>{name}</bdi>
        </p>
        <p>{t.invites.replace('{name}', () => name)}</p>
        <span className="preview-button of-mail">{t.view}</span>
      </Card>
    </Previews>
  );
}

/** Previews the organization in the list where users choose one to sign in to. That list shows no brand color. */
export function ChoicePreview({ name, logoUrl }: Omit<Brand, 'colour'>) {
  const t = useTexts(brandingTexts);
  return (
    <Previews title={t.choice}>
      {schemeNames.map((scheme) => (
        <Card key={scheme} label={`${t.choice}, ${t[scheme]}`} variables={pageVariables(scheme, null)}>
          <span className="preview-button plain">
            {isUploaded(logoUrl) && <img src={logoUrl} alt="" width={20} height={20} />}
            <bdi>{name}</bdi>
          </span>
        </Card>
      ))}
    </Previews>
  );
}
