import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

interface Description {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

interface Locked {
  readonly version?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

type Lock = Readonly<Record<string, Locked>>;

describe('the packages of a first start', () => {
  let folder: string;
  let description: Description;
  let lock: Lock;
  let whole: Lock;

  before(async () => {
    folder = await temporaryFolder();
    execFileSync(process.execPath, [join(packageRoot, 'scripts/start-packages.js'), packageRoot, folder]);
    description = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Description;
    lock = (JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as { packages: Lock }).packages;
    whole = (JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as { packages: Lock }).packages;
  });

  after(() => removeFolder(folder));

  it('are all that the program, its page, the demonstration and the examples import', () => {
    const examples = readdirSync(join(packageRoot, 'scripts/examples')).map((name) => join('scripts/examples', name));
    const sources = readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' }).map((name) =>
      join('src', name),
    );
    const files = [...sources, 'scripts/demo.ts', ...examples].filter((name) => /\.tsx?$/.test(name));
    const imported = new Set(
      files.flatMap((file) =>
        [
          ...readFileSync(join(packageRoot, file), 'utf8').matchAll(
            /(?:^(?:import|export|\}).* from |^import |\bimport\()'([\w@][^']*)'/gm,
          ),
        ].map(([, name = '']) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name),
      ),
    );
    const installed = { ...description.dependencies, ...description.devDependencies };
    const missing = [...imported].filter(
      (name) =>
        !(name in installed) && name !== 'lendstream' && !name.startsWith('node:') && !builtinModules.includes(name),
    );
    expect(imported.size).to.be.above(20);
    expect(missing).to.deep.equal([]);
  });

  it('are those of package-lock.json, with everything that each of them needs', () => {
    const paths = Object.keys(lock).filter((path) => path !== '');
    for (const path of paths) expect(lock[path], path).to.deep.equal(whole[path]);
    const provided = new Set(paths.map((path) => path.replace(/^.*node_modules\//, '')));
    const needed = paths.flatMap((path) => {
      const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = lock[path] ?? {};
      const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
      return [...Object.keys(dependencies), ...peers];
    });
    expect(needed.filter((name) => !provided.has(name))).to.deep.equal([]);
  });

  it('leave out what only tests and checks need', () => {
    expect(Object.keys(lock).length).to.be.below(Object.keys(whole).length / 2);
    for (const name of ['chai', 'mocha', 'oxlint', 'knip', 'playwright-core']) {
      expect(description.devDependencies).not.to.have.property(name);
      expect(lock).not.to.have.property(`node_modules/${name}`);
    }
  });
});
