import { z } from 'zod';

export const primaryColor = (use: string) =>
  z
    .string()
    .regex(/^#[0-9a-f]{6}$/)
    .nullable()
    .meta({ description: `${use}: \`#\` and six lower-case hex digits.`, examples: ['#1f3a5f'] });
