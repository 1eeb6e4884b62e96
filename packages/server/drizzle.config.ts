import { defineConfig } from 'drizzle-kit';

/** `npm run migration` compares the tables with the last migration and writes the next one. */
export default defineConfig({
  dialect: 'postgresql',
  schema: './src/schema/**/!(*.test).ts',
  out: './migrations',
});
