import { defineConfig } from 'drizzle-kit';

/** `npm run migration` compares the tables with the last migration and writes the next one. */
export default defineConfig({
  dialect: 'postgresql',
  schema: [
    './src/db/{cache,idempotency,tenancy}/!(*.test).ts',
    './src/events/tables.ts',
    './src/crypto/keys/signing-keys-table.ts',
    './src/{domain,features}/*/!(operations|store|*.test).ts',
  ],
  out: './migrations',
});
