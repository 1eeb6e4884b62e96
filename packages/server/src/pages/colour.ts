import type { FastifyInstance } from 'fastify';
import { contrast, inkOn } from '../html/contrast.ts';
import { pageHeaders, withHeaders } from '../html/page-headers.ts';
import { pagePolicy } from './page.ts';
import { cards, edges } from './stylesheet.ts';

/**
 * The colours of a button and of the focus outline on the pages of an app. An app can choose any ground; ink and edge still
 * meet the contrast that WCAG 2.2 requires (4.5 to 1 for text, 3 to 1 for the edge of a button and for the outline, which
 * has the colour of the edge).
 */
interface ButtonColours {
  readonly ground: string;
  readonly ink: string;
  /** One per colour scheme, because the card behind the button differs. */
  readonly edge: { readonly light: string; readonly dark: string };
}

/** Computes the ink and the edges that a ground needs. */
export function buttonColours(ground: string): ButtonColours {
  const edge = (scheme: 'light' | 'dark') => (contrast(ground, cards[scheme]) >= 3 ? ground : edges[scheme]);
  return {
    ground,
    ink: inkOn(ground),
    edge: { light: edge('light'), dark: edge('dark') },
  };
}

const path = '/hosted/colour/';

/** The address of the style sheet of a colour. It is a file because the policy of pages allows no inline styles. */
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
