import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'mocha';
import { packageRoot } from '../../src/package-root.ts';

const script = join(packageRoot, 'scripts/sbom');

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly link?: boolean;
  readonly name?: string;
}

/** The project's own package in place of one that reports installations. npm calls it by its folder. */
const ownPackage = 'without-telemetry@1.4.0';

/** The packages of the running program, as `name@version`. */
function lockedPackages(): string[] {
  const lock = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const needed = Object.entries(lock.packages).filter(
    ([path, { dev, devOptional, link }]) =>
      path.startsWith('node_modules/') && ![dev, devOptional, link].includes(true),
  );
  return [
    ...new Set(needed.map(([path, { name, version }]) => `${name ?? path.split('node_modules/').at(-1)}@${version}`)),
  ];
}

const print = (format: string): string => execFileSync(script, [format], { encoding: 'utf8' });

describe('scripts/sbom', function () {
  this.timeout(60_000);

  it('lists the packages of package-lock.json that the program needs, each with its licence', () => {
    const { components, metadata } = JSON.parse(print('cyclonedx')) as {
      components: { name: string; version: string; licenses?: object[] }[];
      metadata: { component: { type: string; purl: string } };
    };
    expect(metadata.component).to.deep.include({ type: 'application', purl: 'pkg:npm/lendstream@0.1.0' });
    expect(components.map(({ name, version }) => `${name}@${version}`)).to.have.members([
      ...lockedPackages(),
      ownPackage,
    ]);
    expect(components.filter(({ licenses = [] }) => licenses.length === 0)).to.deep.equal([]);
  });

  it('prints SPDX too, and refuses another form', () => {
    expect(JSON.parse(print('spdx'))).to.have.property('spdxVersion', 'SPDX-2.3');
    const { status, stderr } = spawnSync(script, ['csv'], { encoding: 'utf8' });
    expect({ status, stderr }).to.deep.equal({
      status: 1,
      stderr: 'lendstream: scripts/sbom takes cyclonedx or spdx, not "csv"\n',
    });
  });
});
