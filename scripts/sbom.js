import { readdirSync, readFileSync } from 'node:fs';
import { root } from './compile.js';
import { consoleModules } from './console.js';
import { packageFolder } from './thirdParty.js';

const LOCK = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
const { name, version, license } = LOCK.packages[''];

/**
 * What a release consists of, as CycloneDX 1.6: each package that is bundled or installed beside the bundle, with the hash that
 * the lock file has of it.
 */
export function sbom() {
  const components = [...new Set([...bundled(), ...installed('node_modules/lmdb')])].sort().map(componentOf);
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: { type: 'application', 'bom-ref': purlOf(name, version), ...named(name, version, license) },
    },
    components,
  };
}

/** The places in the lock file of the packages that the bundles' maps name, and of those that the console is made of. */
function bundled() {
  const maps = ['dist/bundle', 'dist/exports'].flatMap((folder) =>
    readdirSync(root + folder)
      .filter((file) => file.endsWith('.map'))
      .map((file) => `${root}${folder}/${file}`),
  );
  const sources = maps.flatMap((map) => JSON.parse(readFileSync(map, 'utf8')).sources);
  const folders = [...sources, ...consoleModules()]
    .map(packageFolder)
    .filter((folder) => folder !== undefined);
  return folders.map((folder) => folder.slice(folder.indexOf('node_modules/')));
}

/** A package and all that npm installs with it, on any platform. */
function* installed(place, seen = new Set()) {
  const known = LOCK.packages[place];
  if (known === undefined || seen.has(place)) return;
  seen.add(place);
  yield place;
  for (const needed of Object.keys({ ...known.dependencies, ...known.optionalDependencies })) {
    const nested = `${place}/node_modules/${needed}`;
    yield* installed(LOCK.packages[nested] === undefined ? `node_modules/${needed}` : nested, seen);
  }
}

function componentOf(place) {
  const known = LOCK.packages[place];
  if (known === undefined) throw new Error(`${place} is not in package-lock.json`);
  const packageName = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  // The lock file has none for systems whose binaries its registry lacked.
  const hashes = (known.integrity?.split(' ') ?? []).map((hash) => {
    const [algorithm, digest] = hash.split(/-(.*)/s);
    return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') };
  });
  const purl = purlOf(packageName, known.version);
  return { type: 'library', 'bom-ref': purl, ...named(packageName, known.version, known.license), hashes };
}

const purlOf = (packageName, packageVersion) =>
  `pkg:npm/${packageName.replace('@', '%40')}@${packageVersion}`;

const named = (packageName, packageVersion, packageLicense) => ({
  name: packageName,
  version: packageVersion,
  purl: purlOf(packageName, packageVersion),
  licenses: [
    / (AND|OR) /.test(packageLicense) ? { expression: packageLicense } : { license: { id: packageLicense } },
  ],
});
