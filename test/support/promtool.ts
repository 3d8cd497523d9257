import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Prometheus' own checker, where `.ci/install-promtool` put it or a package did; undefined where there is none. */
export const PROMTOOL = [
  join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'floodgate/bin/promtool'),
  ...(process.env['PATH'] ?? '').split(':').map((folder) => join(folder, 'promtool')),
].find((path) => existsSync(path));

/** For the names of tests that need it. */
export const WITHOUT_PROMTOOL = PROMTOOL === undefined ? ' (promtool is not installed)' : '';
