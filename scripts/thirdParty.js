import { readdirSync, readFileSync } from 'node:fs';
import { isAllowed, SHIPPED_LICENSES } from './release/licenses.js';

/** Matches the folder of the innermost package that contains a file. */
const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i;
const RULE = '-'.repeat(80);

export const packageFolder = (file) => PACKAGE.exec(file)?.[0];

/**
 * Returns the notices that licences require from distributors: the packages of these files, each with its licence
 * texts.
 */
export function thirdPartyNotices(files) {
  const folders = new Set(files.map(packageFolder).filter((folder) => folder !== undefined));
  const notices = [...folders].map(noticeOf).sort((a, b) => (a < b ? -1 : 1));
  return [
    'Floodgate is bundled with these packages. Each notice starts with the name, version and licence of the package.',
    ...notices,
  ].join(`\n\n${RULE}\n\n`);
}

function noticeOf(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  if (!isAllowed(license, SHIPPED_LICENSES))
    throw new Error(
      `${name} has the licence ${JSON.stringify(license)}; allowed in the bundle: ${SHIPPED_LICENSES.join(', ')}`,
    );
  const texts = readdirSync(folder)
    .filter((file) => LICENSE_FILE.test(file))
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim());
  // Some packages contain no licence text, only the name of the licence and the author.
  if (texts.length === 0) texts.push(`Copyright: ${author?.name ?? author ?? `the authors of ${name}`}`);
  return [`${name} ${version}, ${license}`, ...texts].join('\n\n');
}
