import { defineConfig } from 'vitest/config';

/**
 * Configuration for the fixture in this folder, which `spawn.test.ts` runs: it starts a server and does not stop it.
 */
export default defineConfig({ test: { include: ['*.fixture.ts'], setupFiles: ['../endWithVitest.ts'] } });
