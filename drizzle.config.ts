import { defineConfig } from 'drizzle-kit';

/** `npm run migration` compares the tables with the last migration and writes the next one. */
export default defineConfig({
  dialect: 'postgresql',
  schema: [
    './src/db/!(*.test).ts',
    './src/events/tables.ts',
    './src/crypto/signing-keys-table.ts',
    './src/features/*/!(operations|store|services|*.test).ts',
  ],
  out: './migrations',
});
