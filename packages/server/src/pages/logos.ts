import type { FastifyInstance } from 'fastify';
import { githubLogo } from '../html/github-mark.ts';
import { pageHeaders, withHeaders } from '../html/page-headers.ts';

interface Logo {
  readonly mediaType: string;
  readonly bytes: Buffer;
}

const github: Logo = { mediaType: 'image/svg+xml', bytes: Buffer.from(githubLogo) };

/** Serves `/hosted/logos/<file>`, the logos of the providers through which people sign in. */
export const serveLogos = (
  app: FastifyInstance,
  { readLogo }: { readonly readLogo: (file: string) => Logo | undefined },
): void =>
  withHeaders(
    app,
    {
      // If a browser opens the address directly, the logo is a page of this service. So it must not run or load
      // anything.
      ...pageHeaders("sandbox; default-src 'none'", 'public, max-age=86400'),
      'cross-origin-resource-policy': 'cross-origin',
    },
    (scope) => {
      scope.get('/hosted/logos/:file', (request, reply) => {
        const { file } = request.params as { file: string };
        const logo = file === 'github.svg' ? github : readLogo(file);
        return logo ? reply.type(logo.mediaType).send(logo.bytes) : reply.callNotFound();
      });
    },
  );
