import type { FastifyInstance } from 'fastify';
import { buttonColours } from '../html/brand-colours.ts';
import { pageHeaders, withHeaders } from '../html/page-headers.ts';
import { pagePolicy } from './page.ts';

const path = '/hosted/colour/';

/**
 * Returns the address of the style sheet for a color. The style sheet is a file because the policy of the pages allows
 * no inline styles.
 */
export const colourSheet = (colour: string): string => `${path}${colour.slice(1)}.css`;

/** Serves `/hosted/colour/<rrggbb>.css`, whose content never changes. */
export const serveColours = (app: FastifyInstance): void =>
  withHeaders(app, pageHeaders(pagePolicy(), 'public, max-age=31536000, immutable'), (scope) => {
    scope.get(`${path}:file`, (request, reply) => {
      const [, digits] = /^([0-9a-f]{6})\.css$/.exec((request.params as { file: string }).file) ?? [];
      if (digits === undefined) return reply.callNotFound();
      const { ground, ink, edge } = buttonColours(`#${digits}`);
      return reply
        .type('text/css; charset=utf-8')
        .send(
          `:root { --button: ${ground}; --button-ink: ${ink}; --button-edge: ${edge.light}; --focus: ${edge.light}; }\n` +
            `@media (prefers-color-scheme: dark) { :root { --button-edge: ${edge.dark}; --focus: ${edge.dark}; } }\n`,
        );
    });
  });
