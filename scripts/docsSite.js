// Builds the documentation as static pages in dist/site with VitePress, and checks them. VitePress is a dependency of
// site/, which has its own lock file; it is installed here if missing, because the root `npm ci` does not install it.
// Run by `npm run docs:site`; `npm run docs:site -- --preview` serves the result on loopback.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { faultsOfSite } from './checkSite.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const site = `${root}site`;
const built = `${root}dist/site`;

/** @type {(command: string, args: readonly string[]) => void} */
function must(command, args) {
  const { status } = spawnSync(command, args, { cwd: site, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const wanted = JSON.parse(read(`${site}/package-lock.json`)).packages['node_modules/vitepress'].version;
const there = JSON.parse(read(`${site}/node_modules/vitepress/package.json`) || '{}').version;
if (there !== wanted) must('npm', ['ci', '--no-audit', '--no-fund']);

// Fails on links to missing pages.
must('npx', ['--no-install', 'vitepress', 'build']);
const faults = faultsOfSite(built);
for (const fault of faults) console.error(fault);
if (faults.length > 0) {
  console.error(`\n${faults.length} faults in the site`);
  process.exit(1);
}
console.log(
  'dist/site has no faults: links and anchors have targets, and pages load nothing from other origins',
);
if (process.argv.includes('--preview'))
  must('npx', ['--no-install', 'vitepress', 'preview', '--host', '127.0.0.1']);
