// Compares every package of the lock file with the registry's advisories: `npm run audit`. Exit code 0: no advisory
// above "low" applies. 1: at least one does. 75 (EX_TEMPFAIL): the advisories could not be downloaded, so nothing was
// checked.
import { spawnSync } from 'node:child_process';
import { root } from '../compile.js';

const NOT_REACHED = 75;
const REPORTED_ONLY = ['info', 'low'];
const TIMEOUT_MS = 120_000;

const { stdout, stderr } = spawnSync('npm', ['audit', '--json', ...process.argv.slice(2)], {
  cwd: root,
  encoding: 'utf8',
  timeout: TIMEOUT_MS,
  maxBuffer: 64 * 1024 * 1024,
});

function report() {
  try {
    return JSON.parse(stdout);
  } catch {
    return {};
  }
}

const { vulnerabilities, metadata, message, error } = report();
if (vulnerabilities === undefined || metadata === undefined) {
  const lines = stderr.trim().split('\n');
  const reason = message ?? error?.summary ?? lines.find((line) => line !== '') ?? 'npm returned no report';
  console.error(`audit: SKIPPED, nothing was checked: cannot download the advisories (${reason})`);
  process.exit(NOT_REACHED);
}
const found = Object.values(vulnerabilities);
for (const { name, severity, range, via } of found) {
  const about = via.map((one) => (typeof one === 'string' ? `via ${one}` : `${one.title} ${one.url}`));
  console.error(`audit: ${severity}: ${name} ${range}: ${about.join('; ')}`);
}
const serious = found.filter(({ severity }) => !REPORTED_ONLY.includes(severity));
console.log(
  `audit: ${metadata.dependencies?.total ?? 'all'} packages checked, ${found.length} with advisories, ${serious.length} of these above "low"`,
);
process.exit(serious.length > 0 ? 1 : 0);
