import { readdirSync, readFileSync } from 'node:fs';

/** The folder of the package that a file belongs to: the innermost of nested ones. */
const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
/** Licences that ask for no more than their text beside what is passed on. */
const ALLOWED_LICENSES = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
];
const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i;
const RULE = '-'.repeat(80);

export const packageFolder = (file) => PACKAGE.exec(file)?.[0];

/** The packages that these files are of, each with the texts of its licence, as their licences ask whoever passes them on. */
export function thirdPartyNotices(files) {
  const folders = new Set(files.map(packageFolder).filter((folder) => folder !== undefined));
  const notices = [...folders].map(noticeOf).sort((a, b) => (a < b ? -1 : 1));
  return [
    'Floodgate is bundled with these packages. Each is under the licence that follows its name.',
    ...notices,
  ].join(`\n\n${RULE}\n\n`);
}

function noticeOf(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  if (!ALLOWED_LICENSES.includes(license))
    throw new Error(
      `${name} is under ${JSON.stringify(license)}: bundle nothing but ${ALLOWED_LICENSES.join(', ')}`,
    );
  const texts = readdirSync(folder)
    .filter((file) => LICENSE_FILE.test(file))
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim());
  // Some have no text of their own, only its name and whose it is.
  if (texts.length === 0) texts.push(`Copyright: ${author?.name ?? author ?? `the authors of ${name}`}`);
  return [`${name} ${version}, ${license}`, ...texts].join('\n\n');
}
