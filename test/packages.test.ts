import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/package-root.ts';

interface LockedPackage {
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
}

/** Licences of packages that run in production: each lets the service be used and passed on under Apache-2.0. */
const allowedLicences: ReadonlySet<string> = new Set([
  'MIT',
  'Apache-2.0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
]);

const registry = 'https://registry.npmjs.org/';

describe('the packages of the service', () => {
  const lock = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const installed = Object.entries(lock.packages).filter(([path]) => path.startsWith('node_modules/'));

  it('do not report their installation', () => {
    const reporting = installed.filter(([path]) => path.endsWith('node_modules/@scarf/scarf'));
    expect(reporting.map(([path, { resolved }]) => `${path} ${resolved}`)).to.deep.equal([
      'node_modules/@scarf/scarf scripts/without-telemetry',
    ]);
  });

  it('have no install script except the SQLite binding, and run none', () => {
    const withScript = installed.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(withScript.map(([path]) => path)).to.deep.equal(['node_modules/@photostructure/sqlite']);
    expect(readFileSync(join(packageRoot, '.npmrc'), 'utf8')).to.match(/^ignore-scripts=true$/m);
  });

  it('come from the registry alone, each with a checksum of its content', () => {
    // Those that are links lie in folders of this project.
    const foreign = installed
      .filter(([, { link }]) => link !== true)
      .filter(([, { resolved = '', integrity = '' }]) => {
        // npm leaves out the address where it is that of the registry.
        return !(resolved === '' || resolved.startsWith(registry)) || !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity);
      });
    expect(foreign.map(([path]) => path)).to.deep.equal([]);
    expect(installed.length).to.be.greaterThan(100);
    expect(readFileSync(join(packageRoot, '.npmrc'), 'utf8')).not.to.match(/registry/);
  });

  it('have licences in production that allow to pass the service on', () => {
    const running = installed.filter(([, { dev, devOptional, link }]) => ![dev, devOptional, link].includes(true));
    expect(running.length).to.be.greaterThan(50);
    const others = running.filter(([, { license = 'none' }]) => !allowedLicences.has(license));
    expect(others.map(([path, { license = 'none' }]) => `${path}: ${license}`)).to.deep.equal([]);
  });

  it('have exact versions in package.json', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
      readonly devDependencies: Readonly<Record<string, string>>;
    };
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^(\d+\.\d+\.\d+|file:scripts\/[\w/-]+)$/.test(version),
    );
    expect(loose).to.deep.equal([]);
  });
});
