import type { Api } from '@doorward/node/client';
import { PictureUpload } from '../../entities/controls/picture-upload.tsx';
import { useTexts } from '../../i18n/language.ts';
import { brandingTexts } from './branding-texts.ts';
import { isUploaded } from './logo.ts';

/** Lets the user upload, replace and remove the logo of an app or organization. */
export function LogoUpload({
  logoUrl,
  of,
  save,
}: {
  readonly logoUrl: string | null;
  readonly of: 'app' | 'organization';
  readonly save: (api: Api, file: string | null) => Promise<unknown>;
}) {
  const t = useTexts(brandingTexts);
  return (
    <PictureUpload
      address={isUploaded(logoUrl) ? logoUrl : null}
      isSquare
      texts={{
        choose: t.newLogo,
        hint: of === 'app' ? t.logoOfApp : t.logoOfOrganization,
        remove: t.removeLogo,
      }}
      save={save}
    />
  );
}
