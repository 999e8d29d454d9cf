import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/package-root.ts';

interface LockedPackage {
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly resolved?: string;
}

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
});
