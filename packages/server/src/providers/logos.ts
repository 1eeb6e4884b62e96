import { createHash } from 'node:crypto';
import type { CustomFetch } from 'openid-client';
import type { Config } from '../config/config.ts';
import { detectImage, type DetectedImage } from '../images/image.ts';
import { TIMEOUT_SECONDS } from './provider.ts';

/**
 * Logos of providers. The service fetches them from `logoUrl`, checks them like a user's picture, and serves them
 * itself. So the site of a logo does not learn who signs in, and cannot serve anything but a picture.
 */
export interface ProviderLogos {
  /** The file below `/hosted/logos/`; null if the provider has no logo, or it was not fetched yet. */
  fileOf(key: string): string | null;
  /** Returns the content of a file; undefined if it is not a current logo. */
  readonly read: (file: string) => DetectedImage | undefined;
  /** Fetches the missing logos. Never rejects. */
  fetchMissing(): Promise<void>;
}

export function createProviderLogos(options: {
  readonly providers: Config['identityProviders'];
  readonly fetch: CustomFetch;
  readonly warn: (message: string) => void;
}): ProviderLogos {
  const { providers, fetch, warn } = options;
  const logos = new Map<string, { readonly file: string; readonly image: DetectedImage }>();

  async function fetchLogo(key: string, address: string): Promise<void> {
    const fault = (reason: string) => warn(`The logo of the provider ${key} ${reason}; pages show none.`);
    try {
      const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1000);
      const headers = { accept: 'image/*' };
      const answer = await fetch(address, {
        method: 'GET',
        headers,
        body: undefined,
        redirect: 'manual',
        signal,
      });
      if (answer.status !== 200) return fault(`was answered with status ${answer.status}`);
      const image = detectImage(Buffer.from(await answer.arrayBuffer()));
      if (!image) return fault('is not a complete JPEG, PNG, WebP or GIF');
      const digest = createHash('sha256').update(image.bytes).digest('hex').slice(0, 16);
      logos.set(key, { file: `${key}-${digest}.${image.extension}`, image });
    } catch (error) {
      const { code } = error as { readonly code?: unknown };
      fault(`could not be fetched (${typeof code === 'string' ? code : 'no answer'})`);
    }
  }

  return {
    fileOf: (key) => logos.get(key)?.file ?? null,
    read: (name) => [...logos.values()].find(({ file }) => file === name)?.image,
    async fetchMissing() {
      await Promise.all(
        providers.map(async ({ key, logoUrl }) => {
          if (logoUrl !== undefined && !logos.has(key)) await fetchLogo(key, logoUrl);
        }),
      );
    },
  };
}
