import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Path of Prometheus' promtool, installed by `.ci/install-promtool` or a package; undefined if there is none. */
export const PROMTOOL = [
  join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'floodgate/bin/promtool'),
  ...(process.env['PATH'] ?? '').split(':').map((folder) => join(folder, 'promtool')),
].find((path) => existsSync(path));

/** Suffix for names of tests that need promtool. */
export const WITHOUT_PROMTOOL = PROMTOOL === undefined ? ' (promtool is not installed)' : '';
