import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes package.json and package-lock.json with what a start needs: the dependencies, and what compiles the program and
 * makes the admin page. Tests and checks need three times as many packages. Nothing is compiled yet when this runs, so
 * it is JavaScript and uses no package.
 *
 * node scripts/start-packages.js <project> <folder to write to>
 */

/** Of the devDependencies: the compiler, the bundler, and the types of what they read. */
const buildTools = ['typescript', 'vite', '@types/compression', '@types/express', '@types/node'];

/** Packages that the admin page consists of. */
const ofPage = /^(preact$|@preact\/|@tanstack\/preact-|@codemirror\/|@lezer\/|uplot$|wouter-preact$)/;

const [project, folder] = process.argv.slice(2);
const read = (name) => JSON.parse(readFileSync(join(project, name), 'utf8'));
const description = read('package.json');
const lock = read('package-lock.json');

const kept = Object.entries(description.devDependencies).filter(
  ([name]) => buildTools.includes(name) || ofPage.test(name),
);
const devDependencies = Object.fromEntries(kept);

const packages = { '': { ...lock.packages[''], devDependencies } };
for (const name of [...Object.keys(description.dependencies), ...Object.keys(devDependencies)]) keep(find('', name));

mkdirSync(join(folder, 'scripts'), { recursive: true });
write('package.json', { ...description, devDependencies });
write('package-lock.json', { ...lock, packages });

/** Keeps a package of the lock, and all that it needs. */
function keep(path) {
  if (path === undefined || path in packages) return;
  const entry = lock.packages[path];
  packages[path] = entry;
  const target = entry.link === true ? lock.packages[entry.resolved] : entry;
  if (entry.link === true) packages[entry.resolved] = target;
  const { dependencies, optionalDependencies, peerDependencies } = target;
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
    keep(find(path, name));
  }
}

/** Where a package finds another one: in the nearest node_modules above it. */
function find(from, name) {
  for (let above = from; ; above = above.slice(0, Math.max(above.lastIndexOf('/node_modules/'), 0))) {
    const path = `${above === '' ? '' : `${above}/`}node_modules/${name}`;
    if (path in lock.packages) return path;
    if (above === '') return undefined;
  }
}

function write(name, content) {
  writeFileSync(join(folder, name), `${JSON.stringify(content, undefined, 2)}\n`);
}
