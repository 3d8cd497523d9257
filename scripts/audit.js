// Compares every package of the lock file with the advisories that the registry knows: `npm run audit`. Ends with 0 where none applies, 1
// where one does that is more than low, and 75 (EX_TEMPFAIL) where the advisories could not be had: that is a skip, and no pass.
import { spawnSync } from 'node:child_process';
import { root } from './compile.js';

const NOT_REACHED = 75;
const TOLD_ONLY = ['info', 'low'];
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
  const reason = message ?? error?.summary ?? lines.find((line) => line !== '') ?? 'npm gave no report';
  console.error(`audit: SKIPPED, nothing was checked: the advisories could not be reached (${reason})`);
  process.exit(NOT_REACHED);
}
const found = Object.values(vulnerabilities);
for (const { name, severity, range, via } of found) {
  const about = via.map((one) => (typeof one === 'string' ? `through ${one}` : `${one.title} ${one.url}`));
  console.error(`audit: ${severity}: ${name} ${range}: ${about.join('; ')}`);
}
const serious = found.filter(({ severity }) => !TOLD_ONLY.includes(severity));
console.log(
  `audit: ${metadata.dependencies?.total ?? 'all'} packages were checked, ${found.length} have advisories, ${serious.length} of these more than low`,
);
process.exit(serious.length > 0 ? 1 : 0);
