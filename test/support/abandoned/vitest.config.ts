import { defineConfig } from 'vitest/config';

/** For the one test file in this folder, which `spawn.test.ts` runs: it abandons the server that it starts. */
export default defineConfig({ test: { include: ['*.fixture.ts'], setupFiles: ['../endWithVitest.ts'] } });
